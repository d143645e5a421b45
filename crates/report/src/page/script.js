// The script of all pages, at the start of a function that the script of the page ends. Each page can be read without it. With
// it tables can be sorted, and everything searched.
const root = document.documentElement;
const one = (selector, within = document) => within.querySelector(selector);
const all = (selector, within = document) => [...within.querySelectorAll(selector)];
root.classList.add("scripted");
const grouped = (digits) => digits.replace(/\B(?=(\d{3})+$)/g, ",");

// ---- tables
// The number that a cell is sorted by, or its text. A page can have cells of its own.
let sortKey = (cell) => cell.dataset.s !== undefined ? Number(cell.dataset.s) : cell.textContent;
function sort(table, heading, order) {
  const column = [...heading.parentNode.children].indexOf(heading);
  const body = table.tBodies[0];
  const key = (row) => sortKey(row.cells[column]);
  const keyed = [...body.rows].map((row, nth) => [key(row), Number(row.dataset.at ?? (row.dataset.at = nth)), row]);
  const sign = order === "ascending" ? 1 : -1;
  keyed.sort(([a, at], [b, bt]) => (a < b ? -sign : a > b ? sign : at - bt));
  body.replaceChildren(...keyed.map(([, , row]) => row));
  all("th[aria-sort]", table).forEach((other) => other.removeAttribute("aria-sort"));
  heading.setAttribute("aria-sort", order);
}
for (const button of all("th button")) {
  button.addEventListener("click", () => {
    const heading = button.parentNode;
    const first = heading.classList.contains("number") ? "descending" : "ascending";
    const other = first === "descending" ? "ascending" : "descending";
    sort(heading.closest("table"), heading, heading.getAttribute("aria-sort") === first ? other : first);
  });
}

// ---- search
const search = one("#search");
const results = one("#results");
const MOST = 12;
// What is searched: each returns the kind of an element, the elements, their texts and where they lead.
const searched = [];
let chosen = -1;
function find() {
  const wanted = search.value.trim().toLowerCase();
  chosen = -1;
  if (!wanted) return results.replaceChildren();
  const found = [];
  const add = (kind, elements, name, target) => {
    let count = 0;
    for (const element of elements) {
      const text = name(element);
      if (!text.toLowerCase().includes(wanted)) continue;
      if (++count > MOST) continue;
      const link = document.createElement("a");
      link.setAttribute("role", "option");
      link.href = target(element);
      link.appendChild(document.createElement("span")).textContent = text.trim();
      link.appendChild(document.createElement("small")).textContent = kind(element);
      found.push(link);
    }
    if (count > MOST) {
      found.push(Object.assign(document.createElement("p"), { textContent: grouped(String(count - MOST)) + " more" }));
    }
  };
  searched.forEach((kind) => add(...kind()));
  if (!found.length) {
    found.push(Object.assign(document.createElement("p"), { textContent: "Nothing on this page has that in it." }));
  }
  results.replaceChildren(...found);
}
function choose(step) {
  const links = all("a", results);
  if (!links.length) return;
  chosen = (chosen + step + links.length) % links.length;
  links.forEach((link, nth) => link.setAttribute("aria-selected", String(nth === chosen)));
  links[chosen].scrollIntoView({ block: "nearest" });
}
let waiting = 0;
search.addEventListener("input", () => {
  clearTimeout(waiting);
  waiting = setTimeout(find, 80);
});
search.addEventListener("keydown", (press) => {
  if (press.key === "ArrowDown" || press.key === "ArrowUp") {
    choose(press.key === "ArrowDown" ? 1 : -1);
    press.preventDefault();
  } else if (press.key === "Enter") {
    clearTimeout(waiting);
    if (!results.children.length) find();
    all("a", results)[Math.max(chosen, 0)]?.click();
  } else if (press.key === "Escape") {
    search.value = "";
    find();
    search.blur();
  }
});
results.addEventListener("click", (click) => {
  if (!click.target.closest("a")) return;
  results.replaceChildren();
  search.blur();
});
document.addEventListener("click", (click) => {
  if (!click.target.closest(".search")) results.replaceChildren();
});

// ---- light and dark
// A page from a file may not be allowed to remember anything.
const remembered = () => { try { return localStorage.getItem("gristmill-theme"); } catch { return null; } };
const remember = (theme) => { try { localStorage.setItem("gristmill-theme", theme); } catch { /* Then not. */ } };
const isDark = () => (root.dataset.theme ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";
const turn = () => {
  root.dataset.theme = isDark() ? "light" : "dark";
  remember(root.dataset.theme);
};
if (["light", "dark"].includes(remembered())) root.dataset.theme = remembered();
one("#theme").addEventListener("click", turn);

// ---- keys
const keys = one("#keys");
one("#help").addEventListener("click", () => keys.showModal());
// A page can have keys of its own.
const actions = {
  "/": () => search.focus(),
  t: turn,
  g: () => scrollTo(0, 0),
  "?": () => (keys.open ? keys.close() : keys.showModal()),
};
document.addEventListener("keydown", (press) => {
  if (press.ctrlKey || press.metaKey || press.altKey || /^(input|select|textarea)$/i.test(press.target.tagName)) return;
  const action = Object.hasOwn(actions, press.key) ? actions[press.key] : null;
  if (!action) return;
  press.preventDefault();
  action();
});
