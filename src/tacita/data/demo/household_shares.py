"""The shares from which the household survey is drawn: invented, in any unit, a row for each group.

No figure is taken from a real survey; a change here changes every documented figure of the demonstration survey.
"""

import numpy as np

# fmt: off
REGION = np.array([[262, 198, 146, 121, 94, 73, 55, 33, 18]])
AGEING = np.array([0, 1, 1, 1, 2, 1, 2, 2, 2])  # row of HEAD_AGE by region
CITIZENSHIP = np.array([  # by region
    [936, 12, 3, 49], [979, 16, 2, 3], [981, 1, 17, 1], [961, 36, 2, 1], [994, 3, 2, 1],
    [966, 1, 32, 1], [996, 2, 1, 1], [982, 16, 1, 1], [988, 1, 1, 10],
])
HEAD_BANDS = np.array([18, 25, 35, 45, 55, 65, 75, 85, 100])
HEAD_AGE = np.array([
    [75, 205, 200, 180, 145, 105, 65, 25], [45, 150, 185, 195, 175, 135, 85, 30],
    [30, 115, 160, 190, 195, 165, 105, 40],
])
ALONE, COUPLE, FAMILY, ONE_PARENT, GENERATIONS, SHARING = range(6)
HOUSEHOLD_TYPE = np.array([  # by age band of the head
    [560, 210, 75, 35, 0, 120], [310, 255, 305, 65, 10, 55], [200, 130, 515, 110, 25, 20], [225, 165, 430, 125, 40, 15],
    [305, 390, 205, 60, 30, 10], [360, 545, 60, 25, 0, 10], [475, 480, 10, 30, 0, 5], [700, 265, 0, 30, 0, 5],
])
FEMALE_ALONE = np.array([450, 430, 400, 430, 520, 600, 720, 780])  # per mille, by age band
FEMALE_HEAD = np.array([0, 380, 380, 830, 420, 480])  # per mille, by type
CHILDREN = np.array([[430, 400, 125, 35, 10], [590, 310, 75, 20, 5]])  # 1 to 5; with one parent
MEANS = np.array([[300, 450, 250]])  # low, middle, high
MARRIED_COUPLES = np.array([150, 430, 740, 850, 900, 930, 960, 970])  # per mille, by age band of the head
HEAD, PARTNER, OTHER, CHILD, GRANDPARENT = range(5)
EDUCATION_AGES = np.array([19, 22, 45, 65])
EDUCATION = np.array([  # by means, then age
    [15, 185, 780, 20, 0], [10, 60, 450, 480, 0], [12, 48, 250, 590, 100], [20, 90, 350, 470, 70],
    [70, 330, 330, 250, 20], [4, 56, 900, 40, 0], [3, 17, 220, 757, 3], [3, 12, 95, 570, 320], [5, 25, 160, 590, 220],
    [25, 165, 300, 400, 110], [2, 28, 915, 55, 0], [1, 6, 110, 873, 10], [1, 4, 35, 330, 630], [2, 8, 70, 420, 500],
    [8, 52, 190, 440, 310],
])
STATUS_AGES = np.array([19, 25, 35, 55, 65, 75])
STATUS = np.array([  # by age, then sex
    [50, 10, 0, 20, 919, 0, 0, 1], [25, 20, 0, 15, 938, 0, 2, 0],
    [470, 50, 10, 80, 383, 0, 1, 6], [320, 115, 4, 60, 470, 0, 27, 4],
    [825, 28, 55, 60, 20, 0, 1, 11], [545, 220, 20, 45, 20, 0, 142, 8],
    [820, 14, 110, 36, 0, 0, 1, 19], [505, 290, 38, 34, 0, 0, 117, 16],
    [560, 20, 100, 38, 0, 230, 1, 51], [300, 215, 28, 25, 0, 262, 130, 40],
    [8, 6, 22, 0, 0, 960, 1, 3], [3, 7, 4, 0, 0, 884, 100, 2],
    [1, 0, 4, 0, 0, 994, 0, 1], [0, 0, 1, 0, 0, 946, 52, 1],
])
MARITAL_AGES = np.array([25, 35, 50, 65, 80])
MARITAL = np.array([  # without a spouse in the household, by age, then sex
    [995, 3, 0, 2], [985, 10, 0, 5], [935, 25, 1, 39], [890, 35, 4, 71], [650, 65, 10, 275], [560, 60, 30, 350],
    [380, 75, 70, 475], [240, 60, 180, 520], [190, 60, 430, 320], [110, 25, 600, 265],
    [70, 50, 790, 90], [70, 10, 855, 65],
])
INCOME = np.array([27_000, 14_500, 22_000, 9_800, 5_200, 17_500, 4_800, 12_600, 0])  # median by status
NO_INCOME = np.array([0, 0, 30, 260, 560, 10, 720, 25, 1000])  # per mille, by status
INCOME_BY_EDUCATION = np.array([72, 78, 86, 100, 142, 100])  # per cent
INCOME_BY_MEANS = np.array([88, 100, 118])  # per cent
INCOME_AGES = np.array([25, 35, 45, 65])
INCOME_BY_AGE = np.array([72, 92, 106, 112, 100])  # per cent
MISSING = {  # not answered, per hundred thousand, by status
    "education": [2000, 2200, 2300, 2900, 1500, 2500, 2600, 3200, 0],
    "citizenship": [1350, 1400, 1500, 2100, 1600, 1350, 1600, 1700, 1500],
    "marital": [1100, 1100, 1200, 1600, 1000, 1050, 1100, 1400, 800],
    "status": [3100, 3700, 4000, 5400, 3500, 3400, 4500, 4500, 0],
    "income": [6200, 5400, 11500, 5900, 4000, 4700, 4300, 5000, 0],
}
# fmt: on
