"""The categories of the survey of accidents at work, and the shares from which they are drawn.

All are invented; shares are in any unit, a row for each group, in the order of `CATEGORIES`. No share is taken from a
real survey; a change here changes every documented figure of the demonstration survey.
"""

import numpy as np

# fmt: off
# The eleven kinds of company that most tables have a row for.
LAND, MINING, LIGHT, HEAVY, UTILITIES, CONSTRUCTION, TRADE, TRANSPORT, SERVICES, PUBLIC, HEALTH = range(11)
DIVISIONS = {  # of economic activity: share, number of groups
    LAND: {"A01": (90, 7), "A02": (45, 4), "A03": (5, 2)},
    MINING: {"B05": (190, 2), "B06": (3, 2), "B07": (15, 2), "B08": (30, 2), "B09": (20, 2)},
    LIGHT: {
        "C10": (560, 9), "C11": (55, 1), "C12": (6, 1), "C13": (45, 3), "C14": (45, 3), "C15": (15, 2), "C16": (200, 2),
        "C17": (85, 2), "C18": (55, 2), "C31": (240, 1), "C32": (45, 6),
    },
    HEAVY: {
        "C19": (15, 2), "C20": (85, 6), "C21": (40, 2), "C22": (280, 2), "C23": (240, 9), "C24": (150, 5),
        "C25": (560, 7), "C26": (60, 8), "C27": (150, 6), "C28": (200, 5), "C29": (260, 3), "C30": (70, 5),
        "C33": (120, 2),
    },
    UTILITIES: {"D35": (110, 3), "E36": (60, 1), "E37": (25, 1), "E38": (160, 3), "E39": (3, 1)},
    CONSTRUCTION: {"F41": (200, 2), "F42": (160, 3), "F43": (230, 4)},
    TRADE: {"G45": (110, 4), "G46": (420, 9), "G47": (880, 9), "I55": (80, 4), "I56": (140, 3)},
    TRANSPORT: {"H49": (420, 5), "H50": (5, 4), "H51": (12, 2), "H52": (200, 2), "H53": (240, 2)},
    SERVICES: {
        "J58": (15, 2), "J59": (8, 2), "J60": (6, 2), "J61": (30, 4), "J62": (45, 1), "J63": (20, 2), "K64": (110, 3),
        "K65": (25, 3), "K66": (20, 3), "L68": (130, 3), "M69": (25, 2), "M70": (40, 2), "M71": (50, 2), "M72": (20, 2),
        "M73": (15, 2), "M74": (12, 4), "M75": (5, 1), "N77": (25, 4), "N78": (140, 3), "N79": (8, 2), "N80": (60, 3),
        "N81": (150, 3), "N82": (40, 5), "R90": (45, 1), "R91": (25, 1), "R92": (10, 1), "R93": (55, 2), "S94": (20, 3),
        "S95": (12, 2), "S96": (35, 1),
    },
    PUBLIC: {"O84": (540, 3), "P85": (600, 6)},
    HEALTH: {"Q86": (880, 3), "Q87": (110, 4), "Q88": (130, 2)},
}
PROVINCES = (  # the first two have a city of their own among the locations
    "Oak", "Pine", "Beech", "Linden", "Birch", "Spruce", "Maple", "Willow", "Ash", "Elm", "Larch", "Alder", "Hazel",
    "Rowan", "Fir", "Cedar",
)

_AGENTS = (
    "none", "building or ground", "stairs, ladder or scaffold", "hand tool", "powered tool", "machine",
    "conveyor or hoist", "vehicle", "materials", "chemical or biological", "person or animal", "other",
)

CATEGORIES: dict[str, tuple[str, ...]] = {
    "WOJW": PROVINCES,
    "LPB1": ("1: up to 49", "2: 50 to 249", "3: 250 or more"),
    "SEK": ("private", "public"),
    "P1": ("male", "female"),
    "P2": ("16 to 24", "25 to 39", "40 to 54", "55 or more"),
    "P3": ("national", "neighbouring country", "other country nearby", "overseas"),
    "P4": ("employee", "employee, fixed term", "agency worker", "self-employed", "apprentice", "other contract"),
    "P5": (
        "manager", "engineer or technician", "teacher", "health professional", "carer", "clerk", "sales worker",
        "cook, waiter or personal service", "protective service", "farm or forest worker", "building trade",
        "metal trade", "electrical trade", "food, wood or garment trade", "miner or plant operator", "assembler",
        "driver", "cleaner", "labourer",
    ),
    "P8": (
        "superficial wound", "open wound", "fracture", "dislocation", "sprain or strain",
        "concussion or internal injury", "amputation", "burn or scald", "poisoning, shock or other",
    ),
    "P9": (
        "head", "eye", "neck", "back", "chest or abdomen", "shoulder or arm", "hand", "finger", "leg or knee",
        "foot or ankle", "whole body",
    ),
    "P10": ("no incapacity", "temporary incapacity", "serious injury", "fatal"),
    "P11": ("0: none", "1: 1 to 13", "2: 14 to 29", "3: 30 to 89", "4: 90 to 179", "5: 180 or more", "not applicable"),
    "P12": ("day", "two shifts", "three shifts", "night or other"),
    "P15": (
        *(f"{name}, {part}" for name in PROVINCES[:2] for part in ("city", "country")), *PROVINCES[2:],
    ),
    "P16": ("at work", "treated as at work"),
    "P18": (
        "production", "storing", "excavation or building", "finishing or repair of buildings", "farm or forest work",
        "service to persons", "office or teaching", "maintenance", "cleaning", "transport",
    ),
    "P19": ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"),
    "P20": (
        "industrial site", "area of services", "public place", "building site", "underground", "farm or forest",
        "sports ground", "home",
    ),
    "P21": ("machine", "hand-held tool", "driving", "handling", "carrying", "movement", "presence", "other"),
    "P22": _AGENTS,
    "P23": (
        "fire or electricity", "overflow or leak", "breakage or fall of an agent", "loss of control", "slip or fall",
        "movement without stress", "movement under stress", "violence or shock",
    ),
    "P24": _AGENTS,
    "P25": (
        "heat, electricity or chemical", "drowned or buried", "impact on an object", "struck by an object",
        "sharp agent", "trapped or crushed", "strain", "bite, kick or other",
    ),
    "P26": _AGENTS,
    "P27_1": (
        "equipment", "organisation of work", "organisation of the place", "handling of materials",
        "equipment not worn", "wrong conduct", "state of the victim", "lack of attention", "other",
    ),
    "P28": ("0: none", "1: light", "2: moderate", "3: severe"),
    "P29": ("yes", "no", "not required"),
    "PKD": tuple(
        f"{division}.{group}"
        for divisions in DIVISIONS.values()
        for division, (_, groups) in divisions.items()
        for group in range(1, groups + 1)
    ),
}
"""Labels of the categorical variables, in the order of their codes; ordinal ones sort in their order."""

KIND = np.array([  # of company, by group of economic activity
    kind for kind, divisions in DIVISIONS.items() for _, groups in divisions.values() for _ in range(groups)
])
GROUP = np.array([[  # the first of the groups of a division is the largest
    5760 * share // 4 ** group // (group + 1)
    for divisions in DIVISIONS.values() for share, groups in divisions.values() for group in range(groups)
]])
PROVINCE = np.array([0, 0, 1, 1, *range(2, 16)])  # by location
VICTIMS = np.array([[9840, 110, 30, 12, 5, 2, 1]])  # 1 to 7
SECTOR = np.array([  # private, public, by kind of company
    [900, 100], [350, 650], [985, 15], [970, 30], [450, 550], [960, 40], [985, 15], [600, 400], [820, 180], [90, 910],
    [250, 750],
])
EMPLOYED = np.array([  # by kind of company
    [600, 310, 90], [15, 45, 940], [200, 370, 430], [115, 305, 580], [60, 370, 570], [500, 310, 190], [320, 230, 450],
    [190, 190, 620], [320, 280, 400], [310, 440, 250], [80, 200, 720],
])
LOCATION = np.array([  # most; land; mining
    [75, 55, 50, 85, 118, 97, 82, 70, 61, 54, 47, 41, 36, 31, 26, 20, 15, 11],
    [3, 95, 3, 60, 90, 80, 85, 70, 75, 60, 75, 60, 55, 60, 45, 40, 25, 19],
    [1, 3, 330, 440, 10, 6, 150, 4, 3, 20, 2, 15, 3, 2, 8, 1, 1, 1],
])
LOCATION_ROW = np.array([1, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0])  # by kind of company
BORDER = np.array([0, 0, 0, 0, 0, 0, 0, 1, 0, 1, 0, 0, 1, 0, 0, 1, 0, 0])  # by location
MIGRANTS = np.array([1, 0, 1, 0, 0, 1, 0, 1, 0, 0, 0])  # by kind of company
CITIZENSHIP = np.array([[996, 2, 1, 1], [980, 17, 2, 1], [992, 6, 1, 1], [963, 34, 2, 1]])  # by border, then migrants
PLACE = np.array([  # by kind of company
    [55, 15, 20, 5, 0, 904, 0, 1], [215, 3, 1, 5, 775, 1, 0, 0], [983, 13, 3, 1, 0, 0, 0, 0],
    [988, 7, 3, 2, 0, 0, 0, 0], [650, 40, 275, 32, 1, 1, 0, 1], [45, 15, 30, 908, 1, 0, 0, 1],
    [25, 957, 17, 0, 0, 0, 0, 1], [200, 65, 733, 1, 0, 0, 0, 1], [75, 785, 128, 8, 0, 1, 2, 1],
    [4, 917, 60, 1, 0, 0, 17, 1], [2, 976, 15, 0, 0, 0, 0, 7],
])
PATTERN = np.array([  # by kind of company
    [850, 80, 20, 50], [180, 120, 620, 80], [300, 300, 370, 30], [300, 290, 380, 30], [560, 150, 230, 60],
    [920, 50, 10, 20], [380, 520, 60, 40], [420, 250, 180, 150], [650, 180, 110, 60], [800, 80, 60, 60],
    [420, 120, 180, 280],
])
START = np.array([  # hour of the day at which work began, by pattern
    [0, 0, 0, 0, 0, 30, 260, 420, 260, 30] + [0] * 14,
    [0] * 6 + [600, 0, 0, 0, 0, 0, 0, 0, 400] + [0] * 9,
    [0] * 6 + [430, 0, 0, 0, 0, 0, 0, 0, 330, 0, 0, 0, 0, 0, 0, 0, 240, 0],
    [0] * 6 + [100, 200, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 150, 250, 150, 0, 150, 0],
])
SINCE = np.array([[80, 120, 150, 150, 130, 115, 110, 85, 20, 12, 9, 7, 5, 3, 2, 2]])  # whole hours worked
MONTH = np.array([[86, 80, 85, 76, 82, 84, 79, 83, 90, 91, 86, 78]])
DAY = np.array([[186, 180, 177, 176, 166, 72, 43]])

OCCUPATION = np.array([  # by kind of company
    [20, 30, 0, 0, 0, 20, 10, 5, 10, 620, 40, 60, 10, 15, 10, 0, 80, 10, 60],
    [10, 70, 0, 2, 0, 8, 2, 2, 10, 0, 60, 110, 110, 5, 540, 5, 25, 8, 33],
    [12, 25, 0, 0, 0, 20, 20, 10, 5, 5, 15, 90, 20, 300, 190, 45, 45, 20, 178],
    [12, 40, 0, 0, 0, 20, 8, 3, 4, 0, 20, 300, 50, 30, 250, 110, 35, 10, 108],
    [15, 60, 0, 0, 0, 40, 10, 3, 25, 5, 40, 140, 120, 5, 60, 0, 110, 40, 327],
    [20, 50, 0, 0, 0, 8, 5, 2, 5, 2, 480, 80, 100, 5, 10, 2, 60, 5, 166],
    [30, 20, 0, 4, 0, 60, 470, 120, 15, 2, 8, 60, 15, 60, 10, 4, 50, 22, 50],
    [15, 20, 0, 0, 0, 330, 15, 10, 15, 0, 8, 60, 20, 2, 8, 0, 390, 10, 97],
    [45, 110, 8, 10, 8, 130, 60, 50, 110, 8, 40, 60, 40, 10, 20, 10, 45, 130, 106],
    [45, 60, 330, 5, 40, 110, 8, 45, 190, 5, 15, 20, 10, 5, 3, 0, 20, 70, 19],
    [10, 20, 5, 470, 260, 30, 8, 40, 10, 1, 8, 12, 8, 2, 3, 0, 55, 40, 18],
])
FEMALE = np.array([  # per mille, by occupation
    400, 250, 830, 880, 860, 720, 720, 650, 180, 180, 8, 15, 15, 420, 60, 480, 25, 820, 280,
])
OFFICE, CARE, SERVICE, CRAFT, MACHINE, DRIVING, LABOUR = range(7)
WORK = np.array([  # kind of work, by occupation
    OFFICE, OFFICE, OFFICE, CARE, CARE, OFFICE, SERVICE, SERVICE, SERVICE, LABOUR, CRAFT, CRAFT, CRAFT, CRAFT, MACHINE,
    MACHINE, DRIVING, LABOUR, LABOUR,
])
AGE_BANDS = np.array([16, 25, 40, 55, 71])
AGE = np.array([  # by kind of work
    [22, 320, 440, 218], [40, 300, 450, 210], [120, 430, 315, 135], [100, 400, 340, 160], [115, 440, 330, 115],
    [45, 360, 405, 190], [100, 350, 355, 195],
])
EMPLOYMENT = np.array([  # by age group
    [205, 600, 60, 12, 75, 48], [560, 355, 27, 31, 2, 25], [745, 190, 12, 38, 0, 15], [760, 165, 8, 45, 0, 22],
])
INJURY = np.array([  # by kind of work
    [170, 50, 280, 110, 300, 65, 0, 3, 22], [140, 90, 150, 80, 370, 45, 0, 12, 113],
    [150, 285, 140, 65, 265, 45, 1, 35, 14], [125, 420, 165, 55, 155, 40, 15, 15, 10],
    [125, 395, 175, 60, 160, 45, 20, 12, 8], [190, 85, 235, 110, 270, 90, 1, 3, 16],
    [145, 290, 180, 75, 220, 55, 6, 15, 14],
])
BODY = np.array([  # by injury
    [120, 90, 10, 40, 60, 110, 140, 150, 140, 120, 20], [90, 20, 3, 5, 10, 60, 220, 470, 70, 45, 7],
    [41, 0, 10, 40, 69, 185, 131, 230, 110, 179, 5], [5, 0, 20, 40, 10, 200, 60, 80, 260, 325, 0],
    [2, 0, 70, 110, 10, 120, 60, 60, 190, 375, 3], [570, 10, 22, 33, 240, 27, 10, 10, 28, 10, 60],
    [3, 0, 0, 0, 0, 20, 60, 880, 12, 20, 5], [110, 90, 20, 20, 60, 170, 250, 80, 80, 60, 60],
    [70, 20, 3, 3, 40, 15, 30, 40, 5, 3, 771],
])
OUTCOME = np.array([  # by injury
    [130, 868, 2, 0], [40, 953, 6, 1], [3, 968, 27, 2], [15, 984, 1, 0], [25, 974, 1, 0], [40, 903, 33, 24],
    [0, 780, 219, 1], [40, 935, 20, 5], [190, 780, 12, 18],
])
GRAVE = np.array([0, 0, 1, 1, 0, 1, 1, 0, 0])  # by injury
DAYS = np.array([  # by outcome: none; temporary, not grave and grave; serious; fatal
    [1, 0, 0, 0, 0, 0, 0], [0, 330, 330, 280, 50, 10, 0], [0, 40, 160, 560, 190, 50, 0], [0, 0, 10, 190, 400, 400, 0],
    [0, 0, 0, 0, 0, 0, 1],
])
DISABILITY = np.array([  # by age group
    [996, 2, 2, 0], [988, 7, 5, 0], [973, 17, 9, 1], [945, 36, 17, 2],
])

PROCESS = np.array([  # by kind of company
    [60, 30, 10, 10, 690, 10, 20, 70, 30, 70], [420, 30, 230, 30, 1, 2, 20, 170, 30, 67],
    [610, 130, 1, 10, 10, 5, 15, 100, 50, 69], [660, 100, 5, 15, 1, 5, 20, 110, 30, 54],
    [200, 60, 60, 60, 15, 20, 50, 260, 120, 155], [60, 60, 330, 330, 2, 3, 20, 110, 25, 60],
    [80, 330, 2, 15, 3, 300, 40, 60, 60, 110], [20, 220, 3, 10, 1, 60, 60, 90, 20, 516],
    [70, 70, 15, 40, 20, 230, 200, 100, 120, 135], [5, 15, 5, 20, 5, 250, 430, 40, 60, 170],
    [3, 15, 1, 8, 1, 690, 60, 30, 70, 122],
])
ACTIVITY = np.array([  # by kind of work
    [15, 20, 60, 70, 60, 690, 45, 40], [10, 70, 40, 180, 190, 380, 60, 70], [40, 170, 30, 220, 130, 330, 40, 40],
    [190, 290, 20, 220, 100, 140, 20, 20], [330, 120, 30, 230, 90, 160, 20, 20], [20, 30, 290, 130, 110, 370, 30, 20],
    [90, 150, 20, 260, 190, 240, 25, 25],
])
AGENT = np.array([  # by activity
    [10, 30, 10, 20, 40, 700, 60, 10, 100, 10, 2, 8], [10, 40, 30, 470, 280, 20, 5, 5, 120, 10, 2, 8],
    [5, 20, 2, 5, 2, 10, 60, 870, 15, 1, 5, 5], [15, 60, 20, 60, 20, 60, 50, 25, 620, 40, 15, 15],
    [20, 70, 50, 20, 5, 10, 70, 20, 690, 10, 25, 10], [70, 540, 250, 5, 2, 10, 10, 40, 50, 3, 10, 10],
    [120, 250, 30, 20, 10, 60, 60, 100, 120, 60, 150, 20], [180, 150, 40, 60, 20, 40, 30, 60, 150, 50, 160, 60],
])
DEVIATION = np.array([  # by activity
    [30, 30, 110, 480, 60, 200, 60, 30], [15, 15, 90, 520, 60, 200, 80, 20], [10, 3, 20, 560, 120, 30, 40, 217],
    [20, 60, 200, 330, 100, 140, 120, 30], [3, 15, 110, 230, 190, 90, 340, 22], [3, 5, 15, 60, 700, 80, 120, 17],
    [40, 40, 140, 150, 160, 80, 40, 350], [30, 30, 80, 160, 160, 120, 90, 330],
])
DEVIATING = np.array([  # agent, by deviation
    [20, 60, 5, 10, 60, 200, 20, 30, 250, 280, 5, 60], [20, 30, 3, 10, 10, 120, 20, 20, 250, 480, 5, 32],
    [5, 80, 60, 30, 20, 110, 130, 40, 490, 10, 5, 20], [5, 20, 10, 180, 110, 190, 60, 130, 250, 5, 30, 10],
    [40, 560, 250, 3, 1, 10, 20, 60, 40, 2, 5, 9], [30, 120, 40, 120, 40, 150, 60, 40, 350, 10, 20, 20],
    [90, 180, 60, 20, 10, 20, 50, 30, 430, 5, 80, 25], [40, 30, 5, 5, 2, 10, 10, 260, 40, 10, 550, 38],
])
CONTACT = np.array([  # by injury
    [20, 2, 330, 270, 110, 130, 40, 98], [5, 1, 150, 180, 540, 90, 5, 29], [1, 3, 528, 230, 14, 180, 38, 6],
    [1, 1, 420, 90, 5, 30, 430, 23], [1, 1, 250, 60, 3, 20, 640, 25], [21, 10, 450, 353, 15, 91, 30, 30],
    [2, 1, 20, 90, 420, 460, 2, 5], [930, 1, 20, 20, 5, 10, 4, 10], [355, 10, 85, 100, 100, 13, 197, 140],
])
CAUSE = np.array([  # by deviation
    [260, 110, 80, 90, 60, 230, 50, 80, 40], [270, 120, 90, 110, 60, 200, 30, 80, 40],
    [190, 130, 110, 150, 30, 240, 30, 90, 30], [80, 70, 50, 200, 50, 330, 40, 150, 30],
    [20, 50, 190, 40, 15, 260, 50, 340, 35], [40, 60, 80, 130, 60, 320, 40, 230, 40],
    [20, 90, 60, 180, 20, 290, 110, 190, 40], [40, 90, 50, 40, 20, 250, 60, 150, 300],
])
EQUIPMENT = np.array([  # by kind of work
    [120, 20, 860], [330, 30, 640], [300, 40, 660], [690, 90, 220], [710, 80, 210], [330, 40, 630], [560, 80, 360],
])
MISSING = {  # not answered, per hundred thousand
    "P3": 250, "P5": 900, "P6": 1400, "P7": 700, "P13": 1100, "P14": 2300, "P20": 450, "P22": 1500, "P24": 1700,
    "P26": 1800, "P27_1": 1000, "P29": 2600,
}
# fmt: on
