// The script of pages of annotated code, after that of all pages. With it the event type can be chosen.

// Costs are whole numbers that may be larger than a double holds, so they stay text until they are compared.
const totals = root.dataset.totals.split(",");
let event = 0;
const costOf = (element) => element.dataset.c.split(",")[event];
const share = (cost) => {
  const total = Number(totals[event]);
  // Calls of a recursion may cost more than the whole, as their costs contain each other.
  return total === 0 || (total > 0 && Number(cost) > total) ? "" : ((Number(cost) * 100) / total).toFixed(1);
};

// ---- event types
const lines = all(".l[data-c]");
function show(next) {
  event = next;
  const hottest = lines.reduce((most, line) => Math.max(most, Math.abs(Number(costOf(line)))), 0);
  for (const element of all("[data-c]")) {
    const cost = costOf(element);
    const number = one(":scope > b", element);
    const percent = one(":scope > i", element);
    if (number) number.textContent = grouped(cost);
    if (percent) percent.textContent = share(cost);
    if (element.classList.contains("l")) {
      const heat = hottest ? Math.round(Math.sqrt(Math.abs(Number(cost)) / hottest) * 100) : 0;
      if (heat > 0) element.style.setProperty("--h", heat);
      else element.removeAttribute("style");
    } else if (element.classList.contains("n")) {
      const width = Math.abs(Number(cost) * 100 / (Number(totals[event]) || 1));
      element.style.setProperty("--w", Math.min(width, 100).toFixed(1));
    }
  }
  all(".totals button").forEach((button, nth) => button.setAttribute("aria-pressed", String(nth === event)));
  all(".event-name").forEach((label) => { label.textContent = root.dataset.events.split(" ")[event]; });
  if (one("#event")) one("#event").value = String(event);
  all("table").forEach((table) => {
    const heading = one("th[aria-sort]", table);
    if (heading) sort(table, heading, heading.getAttribute("aria-sort"));
  });
  listHottest();
}

const byCost = (a, b) => Number(costOf(b)) - Number(costOf(a));
let hot = [];
const rank = () => { hot = lines.filter((line) => Number(costOf(line)) > 0).sort(byCost); };
function listHottest() {
  rank();
  const list = one("#hottest");
  if (!list) return;
  const items = hot.slice(0, Number(list.dataset.rows)).map((line) => {
    const item = document.createElement("li");
    const link = item.appendChild(document.createElement("a"));
    link.href = "#" + line.id;
    link.appendChild(document.createElement("i")).textContent = share(costOf(line));
    link.appendChild(document.createElement("span")).textContent = textOf(line).trim();
    link.appendChild(document.createElement("small")).textContent = locationOf(line);
    return item;
  });
  list.replaceChildren(...items);
}

function textOf(line) {
  const code = one("code", line);
  if (!code) return "";
  return [...code.childNodes].filter((node) => !node.classList?.contains("j") && !node.classList?.contains("in")).map((node) => node.textContent).join("");
}
const fileOf = (line) => one("h2 > span", line.closest(".file")).textContent;
const locationOf = (line) => fileOf(line).split("/").pop() + ":" + one("a", line).textContent;

one("#event")?.addEventListener("change", (change) => show(Number(change.target.value)));
all(".totals button").forEach((button, nth) => button.addEventListener("click", () => show(nth)));

sortKey = (cell) => {
  if (cell.dataset.c !== undefined) return Number(costOf(cell));
  return cell.dataset.s !== undefined ? Number(cell.dataset.s) : cell.textContent;
};

// ---- links into folded lines
function reveal() {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (!target) return;
  let opened = false;
  for (let fold = target.closest("details"); fold; fold = fold.parentElement.closest("details")) {
    opened = opened || !fold.open;
    fold.open = true;
  }
  if (opened) target.scrollIntoView();
}
addEventListener("hashchange", reveal);
reveal();

// ---- search
searched.push(() => {
  const links = all("#functions tbody td.name > a");
  return [() => "function", links, (link) => link.textContent, (link) => link.getAttribute("href")];
});
searched.push(() => [() => "file", all(".file"), (file) => one("h2 > span", file).textContent, (file) => "#" + file.id]);
searched.push(() => [locationOf, all(".l"), textOf, (line) => "#" + line.id]);

// ---- keys
one("#jumps")?.addEventListener("click", toggleJumps);
function toggleJumps() {
  const hidden = root.classList.toggle("no-jumps");
  one("#jumps")?.setAttribute("aria-pressed", String(!hidden));
}
let at = -1;
function visit(step) {
  if (!hot.length) return;
  at = Math.min(Math.max(at + step, 0), hot.length - 1);
  location.hash = hot[at].id;
}
function visitFile(step) {
  const files = all(".file");
  const top = files.findLastIndex((file) => file.getBoundingClientRect().top < 120);
  files[Math.min(Math.max(top + step, 0), files.length - 1)]?.scrollIntoView();
}
Object.assign(actions, {
  n: () => visit(1),
  p: () => visit(-1),
  "]": () => visitFile(1),
  "[": () => visitFile(-1),
  e: () => show((event + 1) % totals.length),
  j: toggleJumps,
});

// The page comes with the costs of the first event type in place.
rank();
