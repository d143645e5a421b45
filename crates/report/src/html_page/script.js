// The page can be read without this. With it the event type can be chosen, tables sorted, and everything searched.
"use strict";
(() => {
  const root = document.documentElement;
  const one = (selector, within = document) => within.querySelector(selector);
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  root.classList.add("scripted");

  // Costs are whole numbers that may be larger than a double holds, so they stay text until they are compared.
  const totals = root.dataset.totals.split(",");
  let event = 0;
  const costOf = (element) => element.dataset.c.split(",")[event];
  const grouped = (digits) => digits.replace(/\B(?=(\d{3})+$)/g, ",");
  const share = (cost) => {
    const total = Number(totals[event]);
    return total === 0 ? "" : ((Number(cost) * 100) / total).toFixed(1);
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

  // ---- tables
  function sort(table, heading, order) {
    const column = [...heading.parentNode.children].indexOf(heading);
    const body = table.tBodies[0];
    const key = (row) => {
      const cell = row.cells[column];
      return cell.dataset.c !== undefined ? Number(costOf(cell)) : cell.dataset.s !== undefined ? Number(cell.dataset.s) : cell.textContent;
    };
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
  const search = one("#search");
  const results = one("#results");
  const MOST = 12;
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
    const links = all("#functions tbody td.name > a");
    add(() => "function", links, (link) => link.textContent, (link) => link.getAttribute("href"));
    add(() => "file", all(".file"), (file) => one("h2 > span", file).textContent, (file) => "#" + file.id);
    add(locationOf, all(".l"), textOf, (line) => "#" + line.id);
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
  const actions = {
    "/": () => search.focus(),
    n: () => visit(1),
    p: () => visit(-1),
    "]": () => visitFile(1),
    "[": () => visitFile(-1),
    e: () => show((event + 1) % totals.length),
    j: toggleJumps,
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

  // The page comes with the costs of the first event type in place.
  rank();
})();
