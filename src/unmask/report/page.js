"use strict";
// The one script of every page: values of figures under the pointer or the keys, and tables of items that can be
// searched, filtered, sorted and saved. Nothing is loaded, and text only ever goes into a page as text.
(() => {
  const make = (tag, text = "", attributes = {}) => {
    const made = document.createElement(tag);
    made.textContent = text;
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    return made;
  };

  // Figures: each mark's <title> becomes a note beside it, which keys reach, too.
  const note = make("div", "", { class: "tip", role: "status" });
  (document.querySelector("main") || document.body).append(note);
  let shown = null;
  let byKeys = false;
  const hide = () => {
    if (shown) shown.classList.remove("on");
    shown = null;
    note.textContent = "";
  };
  const show = (mark, x, y) => {
    if (mark !== shown) {
      hide();
      shown = mark;
      mark.classList.add("on");
      note.textContent = mark.dataset.tip;
    }
    const [wide, tall] = [note.offsetWidth, note.offsetHeight];
    note.style.left = `${Math.max(4, Math.min(x + 12, innerWidth - wide - 4))}px`;
    note.style.top = `${y - tall - 10 < 4 ? y + 16 : y - tall - 10}px`;
  };
  for (const title of document.querySelectorAll("svg title")) {
    title.parentNode.dataset.tip = title.textContent;
    title.remove();
  }
  const marked = (event) => (event.target instanceof Element ? event.target.closest("[data-tip]") : null);
  let pointer = "";
  for (const kind of ["pointerover", "pointermove"]) {
    document.addEventListener(kind, (event) => {
      const mark = marked(event);
      const rested = pointer === `${event.clientX} ${event.clientY}`; // the page has moved, not the pointer
      pointer = `${event.clientX} ${event.clientY}`;
      if (mark && !(byKeys && rested)) {
        byKeys = false;
        show(mark, event.clientX, event.clientY);
      }
    });
  }
  document.addEventListener("pointerout", (event) => {
    if (marked(event) && !byKeys) hide();
  });
  const beside = (mark) => {
    const place = mark.getBoundingClientRect();
    show(mark, place.left + place.width / 2, place.top);
  };
  const scrolled = () => (shown && byKeys ? beside(shown) : hide());
  document.addEventListener("scroll", scrolled, { capture: true, passive: true });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") hide();
  });
  for (const figure of document.querySelectorAll("[role=img]")) {
    const every = [...figure.querySelectorAll("[data-tip]")];
    const marks = [...new Map(every.map((mark) => [mark.dataset.tip, mark])).values()]; // a point and its line are one
    if (!marks.length) continue;
    figure.tabIndex = 0;
    figure.addEventListener("blur", hide);
    figure.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
      if (!step) return;
      event.preventDefault();
      const at = marks.indexOf(shown);
      const next = marks[at < 0 ? (step > 0 ? 0 : marks.length - 1) : (at + step + marks.length) % marks.length];
      byKeys = true;
      beside(next);
    });
  }

  // Items: a column holds numbers, or its distinct texts and which of them each row has.
  const FIRST = 25;
  const MORE = 100;
  const written = (value, digits) => {
    if (value === null) return "–";
    if (value === 0) return "0";
    const small = Math.abs(value) < 0.5 * 10 ** -digits;
    return (small ? value.toPrecision(1) : value.toFixed(digits)).replace("-", "−");
  };
  const guarded = (text) => (/^'*[=+\-@\t\r]/.test(text) ? `'${text}` : text); // or a spreadsheet would run it
  const quoted = (value) => (/[",\r\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value);

  const explore = (box) => {
    const { name, columns, size } = JSON.parse(box.querySelector("script").textContent);
    for (const column of columns) {
      column.isNumber = Boolean(column.numbers);
      column.value = (row) => (column.isNumber ? column.numbers[row] : column.texts[column.at[row]]);
      column.folded = column.isNumber ? [] : column.texts.map((text) => text.toLowerCase());
    }
    const texts = columns.filter((column) => !column.isNumber);
    const body = box.querySelector("tbody");
    const said = box.querySelector(".said");
    let order = Array.from({ length: size }, (_, row) => row);
    let found = order;
    let room = FIRST;
    let query = [];
    const chosen = new Map();

    const cell = (column, row) => {
      const value = column.value(row);
      if (column.isNumber) return make("td", written(value, column.digits), { class: "num" });
      const td = make("td", value, { dir: "auto" });
      if (column.long) td.className = "long";
      if (column.language) td.lang = column.language;
      return td;
    };
    const draw = () => {
      const rows = found.slice(0, room).map((row) => {
        const line = make("tr");
        line.append(...columns.map((column) => cell(column, row)));
        return line;
      });
      body.replaceChildren(...rows);
      const all = found.length === size ? "" : ` of ${size.toLocaleString("en")}`;
      said.textContent = `${found.length.toLocaleString("en")}${all} items found, ${rows.length} shown.`;
      more.hidden = rows.length === found.length;
    };
    const look = () => {
      found = order.filter(
        (row) =>
          [...chosen].every(([column, wanted]) => column.at[row] === wanted) &&
          query.every((word) => texts.some((column) => column.folded[column.at[row]].includes(word))),
      );
      room = FIRST;
      draw();
    };

    const controls = make("div", "", { class: "controls" });
    const search = make("input", "", { type: "search", spellcheck: "false" });
    const label = make("label", "Search ");
    label.append(search);
    controls.append(label);
    search.addEventListener("input", () => {
      query = search.value.toLowerCase().split(/\s+/).filter(Boolean);
      look();
    });
    for (const column of columns.filter((one) => one.filter)) {
      const select = make("select");
      select.append(make("option", "all", { value: "" }));
      const sorted = column.texts.map((text, at) => [text, at]).sort(([one], [other]) => one.localeCompare(other));
      for (const [text, at] of sorted) select.append(make("option", text || "–", { value: String(at) }));
      select.addEventListener("change", () => {
        if (select.value) chosen.set(column, Number(select.value));
        else chosen.delete(column);
        look();
      });
      const head = make("label", `${column.head} `);
      head.append(select);
      controls.append(head);
    }
    const saved = (column, row) => {
      const value = column.value(row) ?? "";
      return quoted(column.isNumber ? String(value) : guarded(value));
    };
    const save = make("button", "Save these rows as CSV", { type: "button" });
    save.addEventListener("click", () => {
      const lines = [columns.map((column) => quoted(column.name))];
      for (const row of found) lines.push(columns.map((column) => saved(column, row)));
      const file = new Blob([lines.map((line) => line.join(",")).join("\n"), "\n"], { type: "text/csv" });
      const link = make("a", "", { href: URL.createObjectURL(file), download: `${name}.csv` });
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 1000);
    });
    controls.append(save);
    box.querySelector(".scroll").before(controls);
    const more = make("button", `Show ${MORE} more`, { type: "button", class: "more" });
    more.addEventListener("click", () => {
      room += MORE;
      draw();
    });
    box.querySelector(".scroll").after(more);

    const collator = new Intl.Collator(undefined, { numeric: true });
    const heads = [...box.querySelectorAll("thead th")];
    heads.forEach((head, at) => {
      const column = columns[at];
      const button = make("button", head.textContent, { type: "button" });
      head.replaceChildren(button);
      button.addEventListener("click", () => {
        const before = head.getAttribute("aria-sort");
        const first = column.isNumber ? "descending" : "ascending"; // the largest numbers are what one looks for
        const second = column.isNumber ? "ascending" : "descending";
        const way = before === first ? second : first;
        heads.forEach((other) => other.removeAttribute("aria-sort"));
        head.setAttribute("aria-sort", way);
        const sign = way === "ascending" ? 1 : -1;
        const missing = (row) => column.value(row) === null || column.value(row) === "";
        order = [...order].sort((one, other) => {
          if (missing(one) || missing(other)) return Number(missing(one)) - Number(missing(other));
          const [a, b] = [column.value(one), column.value(other)];
          return sign * (column.isNumber ? a - b : collator.compare(a, b));
        });
        look();
      });
    });
    draw();
  };
  document.querySelectorAll(".items").forEach(explore);
})();
