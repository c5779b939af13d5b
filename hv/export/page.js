"use strict";
(() => {
  // Only a page with a section for each row of its first table can be sorted and filtered.
  const filter = document.getElementById("filter");
  if (!filter) return;
  const table = document.querySelector("table.races"), body = table.tBodies[0];
  const sections = document.getElementById("sections"), none = document.getElementById("none");
  const section = (row) => document.getElementById(row.dataset.group || row.dataset.race);
  document.documentElement.classList.add("scripted");
  table.classList.add("sortable");

  // Sorting: rows and sections together. A figure's first click puts the largest first.
  const sort = (header, column) => {
    const number = header.classList.contains("number"), before = header.getAttribute("aria-sort");
    const down = before ? before === "ascending" : header.classList.contains("down");
    const rows = [...body.rows].sort((a, b) => {
      const x = a.cells[column].textContent, y = b.cells[column].textContent, order = number ? x - y : x.localeCompare(y);
      return down ? -order : order;
    });
    for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
    header.setAttribute("aria-sort", down ? "descending" : "ascending");
    body.append(...rows);
    sections.append(...rows.map(section));
  };
  [...table.tHead.rows[0].cells].forEach((header, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = header.textContent;
    button.addEventListener("click", () => sort(header, column));
    header.replaceChildren(button);
  });

  // Filtering: all words must be somewhere in the race's row or section, and the level must be the one that was clicked.
  const texts = new Map();
  const text = (row) => {
    if (!texts.has(row)) texts.set(row, (row.textContent + " " + section(row).textContent).toLowerCase());
    return texts.get(row);
  };
  let level = "";
  const show = () => {
    const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const row of body.rows) {
      const fits = (!level || row.dataset.level === level) && words.every((word) => text(row).includes(word));
      row.hidden = section(row).hidden = !fits;
      shown += fits;
    }
    none.hidden = shown > 0 || !body.rows.length;
    for (const count of counts) count.setAttribute("aria-pressed", String(count.dataset.level === level));
  };
  const counts = [...document.querySelectorAll(".counts span[data-level]")].map((span) => {
    const button = document.createElement("button");
    button.type = "button";
    button.className = span.className;
    button.dataset.level = span.dataset.level;
    button.append(...span.childNodes);
    button.addEventListener("click", () => { level = level === button.dataset.level ? "" : button.dataset.level; show(); });
    span.replaceWith(button);
    return button;
  });
  filter.addEventListener("input", show);
  document.getElementById("clear").addEventListener("click", () => { filter.value = level = ""; show(); });
  show();

  // A link to a race whose section is closed or filtered away shows it.
  const open = () => {
    const target = /^#race-[0-9a-f]+$/.test(location.hash) && document.getElementById(location.hash.slice(1));
    if (!target) return;
    if ((target.closest(".group") || target).hidden) { filter.value = level = ""; show(); }
    const others = target.closest("details.others");
    if (others) others.open = true;
    target.querySelector("details.body").open = true;
    target.scrollIntoView();
  };
  addEventListener("hashchange", open);
  open();

  // Without the clipboard, which a browser may refuse, the text is selected for the user to copy.
  const copy = async (pre, button) => {
    try {
      await navigator.clipboard.writeText(pre.textContent);
      button.textContent = "Copied";
    } catch {
      pre.parentElement.open = true;
      getSelection().selectAllChildren(pre);
      button.textContent = "Selected: copy it with the keyboard";
    }
  };
  for (const details of document.querySelectorAll("details.kcsan")) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = "Copy as KCSAN text";
    button.addEventListener("click", () => copy(details.querySelector("pre"), button));
    details.before(button);
  }
})();
