// The window: shows the pieces of the page that the app sends, and tells it what people do. Nothing is asked elsewhere.
(function () {
  "use strict";
  const marks = new Map();
  let current = "";
  let added = false;

  // What people do.

  function send(name, fields) {
    const at = String(Date.now() + Math.random());
    document.body.dataset.waiting = at;
    window.Shiny.setInputValue("act", { name: name, fields: fields || {}, at: at }, { priority: "event" });
  }

  function own(element) {
    return JSON.parse(element.dataset.fields || "{}");
  }

  function gathered(form) {
    const fields = {};
    for (const each of form.elements) {
      if (!each.name) continue;
      if (each.type === "checkbox" && "many" in each.dataset) {
        fields[each.name] = fields[each.name] || [];
        if (each.checked) fields[each.name].push(each.value);
      } else if (each.type === "checkbox") {
        fields[each.name] = each.checked;
      } else {
        fields[each.name] = each.value;
      }
    }
    return fields;
  }

  document.addEventListener("click", function (event) {
    const button = event.target.closest("button[data-act]");
    if (!button || button.disabled) return;
    event.preventDefault();
    send(button.dataset.act, own(button));
  });

  document.addEventListener("submit", function (event) {
    const form = event.target.closest("form[data-act]");
    if (!form) return;
    event.preventDefault();
    added = form.dataset.act === "add_step";
    send(form.dataset.act, Object.assign(gathered(form), own(form)));
  });

  document.addEventListener("change", function (event) {
    const field = event.target.closest("[data-change]");
    if (field) {
      const value = field.type === "checkbox" ? field.checked : field.value;
      send(field.dataset.change, { [field.name]: value });
    }
    if (event.target.id === "upload" && event.target.files.length) upload(event.target.files[0]);
  });

  function upload(file) {
    const said = document.getElementById("upload-said");
    if (said) said.textContent = "Taking in " + file.name + " …";
    fetch("upload?name=" + encodeURIComponent(file.name), { method: "POST", body: file }).catch(function () {
      if (said) said.textContent = "That did not work; is the app still running?";
    });
  }

  // What is shown.

  function show(pieces) {
    const focused = document.activeElement && document.activeElement.id;
    const turned = "current" in pieces && pieces.current !== current;
    for (const [place, text] of Object.entries(pieces)) {
      const element = document.getElementById(place);
      if (place === "heard") {
        if (document.body.dataset.waiting === text) delete document.body.dataset.waiting;
        if (added && !document.querySelector("#notice .error")) {
          // A step that was added leaves an empty form for the next one.
          const form = document.querySelector("form[data-act=add_step]");
          if (form) form.reset();
        }
        added = false;
      } else if (place === "current") {
        current = text;
        document.body.dataset.page = text;
        for (const tab of document.querySelectorAll("nav button")) {
          if (tab.id === "tab-" + text) tab.setAttribute("aria-current", "page");
          else tab.removeAttribute("aria-current");
        }
      } else if (element) {
        const unfolded = [...element.querySelectorAll("details[id]")].filter((each) => each.open).map((each) => each.id);
        const folded = [...element.querySelectorAll("details[id]")].filter((each) => !each.open).map((each) => each.id);
        const scrolled = [...element.querySelectorAll(".tall")].map((each) => each.scrollTop);
        for (const figure of element.querySelectorAll(".vega")) forget(figure);
        element.innerHTML = text;
        if (!turned) {
          for (const id of unfolded) unfold(id, true);
          for (const id of folded) unfold(id, false);
          element.querySelectorAll(".tall").forEach((each, at) => { each.scrollTop = scrolled[at] || 0; });
        }
      }
    }
    document.title = document.getElementById("title").textContent + " · Tacita";
    draw();
    document.body.dataset.shown = String(Number(document.body.dataset.shown || 0) + 1);
    if (turned) window.scrollTo(0, 0);
    else if (focused && document.activeElement === document.body) {
      const again = document.getElementById(focused);
      if (again) again.focus({ preventScroll: true });
    }
  }

  function unfold(id, open) {
    const found = document.getElementById(id);
    if (found) found.open = open;
  }

  // Figures: drawn here from their specification, in light or dark.

  function dark() {
    return document.documentElement.dataset.colours === "dark";
  }

  function coloured(text) {
    if (!dark()) return text.replace(/"background":\s*"white"/g, '"background": "transparent"');
    return text
      .replace(/"background":\s*"white"/g, '"background": "transparent"')
      .replace(/#222222/g, "#e4e8ee").replace(/#8a8a8a/g, "#93a0b0")
      .replace(/#3b6ea5/g, "#79aee6").replace(/#c8452e/g, "#f08a72");
  }

  function forget(figure) {
    const view = marks.get(figure.id);
    if (view) view.finalize();
    marks.delete(figure.id);
  }

  function draw(again) {
    for (const figure of document.querySelectorAll(".vega")) {
      if (figure.dataset.drawn && !again) continue;
      figure.dataset.drawn = "yes";
      const held = figure.querySelector("script") || figure.held;
      if (!held || !window.vegaEmbed) continue;
      figure.held = held;
      const spec = JSON.parse(coloured(held.textContent));
      const place = document.createElement("div");
      figure.replaceChildren(place);
      window.vegaEmbed(place, spec, { renderer: "svg", actions: false }).then(function (found) {
        marks.set(figure.id, found.view);
        if (figure.dataset.brush) listen(found.view);
        // The label of the figure and the table of its data say what its marks say one by one.
        place.querySelector("svg")?.setAttribute("aria-hidden", "true");
        figure.dataset.ready = "yes";
      });
    }
  }

  function listen(view) {
    let timer = 0;
    const heard = function (name, value) {
      clearTimeout(timer);
      timer = setTimeout(function () {
        const across = value.neighbours || value.count;
        const upwards = value.height || value.perturbation || value.loss;
        if (!across || !upwards) return;
        const sorted = (pair) => [Math.min(...pair), Math.max(...pair)];
        send("brush", { across: sorted(across), upwards: sorted(upwards) });
      }, 350);
    };
    try { view.addSignalListener("brush", heard); } catch (error) { /* a figure without a brush */ }
  }

  // Light and dark.

  function colours(chosen) {
    document.documentElement.dataset.colours = chosen;
    draw(true);
  }

  const wished = window.matchMedia("(prefers-color-scheme: dark)");
  let remembered = null;
  try { remembered = window.localStorage.getItem("colours"); } catch (error) { /* not allowed: the system's wish */ }
  document.documentElement.dataset.colours = remembered || (wished.matches ? "dark" : "light");
  wished.addEventListener("change", (event) => { if (!remembered) colours(event.matches ? "dark" : "light"); });

  window.addEventListener("DOMContentLoaded", function () {
    document.getElementById("colours").addEventListener("click", function () {
      remembered = dark() ? "light" : "dark";
      try { window.localStorage.setItem("colours", remembered); } catch (error) { /* not kept */ }
      colours(remembered);
    });
    const wait = setInterval(function () {
      if (!window.Shiny || !window.Shiny.addCustomMessageHandler) return;
      clearInterval(wait);
      window.Shiny.addCustomMessageHandler("fragments", show);
    }, 5);
  });

  window.tacita = { send: send };
})();
