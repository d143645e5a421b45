//! `gristmill annotate --format html` and `gristmill diff --format html`: what is in the pages, and how they behave in a browser.
//!
//! A headless Chromium opens it. Without one those tests say that they were skipped; with `GRISTMILL_CI` set they fail.

// Tests may panic: that is how they fail. Clippy knows that of test functions, but not of what they share.
#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout)]
#![cfg(test)]

mod harness;

use std::path::Path;
use std::process::{Command, Stdio};

use harness::{code, corpus, folder, one_in, root, run, run_in, stderr, stdout, text};

const BROWSERS: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "chrome"];

/// A browser, or none with a word about it.
fn browser() -> Option<&'static str> {
    let works = |name: &&&str| {
        let version = Command::new(name).arg("--version").stdin(Stdio::null()).output();
        version.is_ok_and(|output| output.status.success())
    };
    let found = BROWSERS.iter().find(works).copied();
    if found.is_none() {
        assert!(std::env::var_os("GRISTMILL_CI").is_none(), "there is no chromium");
        println!("skipped: there is no chromium");
    }
    found
}

/// Opens a page: what became of the document, and what the console says.
fn open(browser: &str, page: &Path, width: u32, is_dark: bool) -> (String, Vec<String>) {
    let home = tempfile::tempdir().unwrap();
    let output = Command::new(browser)
        // Containers have no room for its sandbox, and the page is our own.
        .args(["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--dump-dom"])
        .args(["--enable-logging=stderr", "--virtual-time-budget=5000"])
        .arg(format!("--user-data-dir={}", home.path().display()))
        .arg(format!("--window-size={width},900"))
        .arg(format!("--blink-settings=preferredColorScheme={}", u8::from(!is_dark)))
        .arg(format!("file://{}", page.display()))
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let console =
        stderr(&output).lines().filter(|line| line.contains(":CONSOLE")).map(str::to_owned).collect();
    (String::from_utf8_lossy(&output.stdout).into_owned(), console)
}

/// The page of the project's own program, with sources, jumps and several event types.
fn mill(folder: &Path, name: &str) -> String {
    let page = folder.join("page.html");
    let profile = format!("callgrind/callgrind.out.{name}");
    let arguments = [
        "annotate",
        "--format",
        "html",
        "--source-map",
        "/srv/demo=.",
        "-o",
        text(&page),
        "--force",
        &profile,
    ];
    let output = run_in(&root().join("corpus"), &arguments);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    std::fs::read_to_string(page).unwrap()
}

#[test]
fn the_page_stands_alone_and_is_read_without_a_script() {
    let folder = folder(&[]);
    let page = mill(folder.path(), "line-jumps");
    // What a browser would fetch.
    for reference in ["src=", "http:", "https:", "@import", "url("] {
        assert!(!page.contains(reference), "{reference}");
    }
    // Numbers, heat, calls with a link to the callee, callers with a link back, jumps.
    let sieve =
        page.split("<section class=\"file panel\"").find(|it| it.contains("/srv/demo/src/sieve.c</span>"));
    let sieve = sieve.unwrap();
    let line = sieve.lines().find(|line| line.contains("data-c=") && line.contains("style=--h:")).unwrap();
    assert!(line.contains("<code>") && line.contains("<b>"), "{line}");
    let call =
        sieve.lines().find(|line| line.starts_with("<div class=c") && line.contains("by_weight")).unwrap();
    let anchor = call.split("<a href=#").nth(1).unwrap().split('>').next().unwrap();
    assert!(page.contains(&format!("<div class=f id={anchor}>")), "{anchor}");
    let head = page.lines().find(|line| line.contains(&format!("<div class=f id={anchor}>"))).unwrap();
    assert!(head.contains("sieve.c:"), "{head}");
    let jump = sieve.lines().find(|line| line.contains("<a class=j href=#f")).unwrap();
    assert!(jump.contains(" of "), "{jump}");
    // Every link leads somewhere.
    for link in page.split("href=#").skip(1) {
        let anchor = link.split(['>', ' ']).next().unwrap();
        assert!(
            page.contains(&format!(" id={anchor}>")) || page.contains(&format!(" id={anchor} ")),
            "{anchor}"
        );
    }
}

#[test]
fn what_files_say_is_never_markup() {
    let evil = "<script>document.title='pwned'</script><img src=x onerror=alert(1)>\"'";
    let profile = format!(
        "# callgrind format\ncreator: {evil}\ncmd: {evil}\nevent: Ir : {evil}\nevents: Ir <b>\nob={evil}\nfl=evil.c\n\
         fn={evil}\n1 10 1\ncfn={evil}2\ncalls=1 3\n2 5 5\nfl={evil}\nfn={evil}3\n1 7 7\n"
    );
    let source = format!("</code></div>{evil}\n// {evil}\n\"{evil}\n");
    let folder = folder(&[("callgrind.out.1", profile.as_bytes()), ("evil.c", source.as_bytes())]);
    let output = run_in(folder.path(), &["annotate", "--format", "html", "callgrind.out.1"]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let page = stdout(&output);
    assert_eq!(page.matches("<script>").count(), 1);
    assert!(!page.contains("<img") && !page.contains("<b>\"") && page.matches("</script>").count() == 1);
    let Some(browser) = browser() else { return };
    let file = folder.path().join("page.html");
    std::fs::write(&file, page).unwrap();
    let (document, console) = open(browser, &file, 1440, false);
    assert!(!document.contains("<title>pwned") && console.is_empty(), "{console:?}");
    assert!(document.contains("&lt;/code&gt;&lt;/div&gt;"), "{document}");
}

/// Uses the page as a person would and leaves what came of it in the document.
const VISIT: &str = r##"<script>
"use strict";
(() => {
  const said = [];
  const check = (what, is) => { if (!is) said.push(what); };
  const one = (selector) => document.querySelector(selector);
  const press = (key, on = document.body) =>
    on.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
  try {
    check("fits into the window", document.documentElement.scrollWidth <= innerWidth);
    const dark = matchMedia("(prefers-color-scheme: dark)").matches;
    const ground = () => getComputedStyle(document.body).backgroundColor;
    const before = ground();
    check("follows the scheme of the system", dark === (Number(before.match(/\d+/)[0]) < 128));
    press("t");
    check("turns light and dark", ground() !== before);
    press("t");
    check("and back", ground() === before);
    // Another event type.
    const cell = one("td.n");
    const first = cell.querySelector("b").textContent;
    const buttons = document.querySelectorAll(".totals button");
    if (buttons.length > 1) {
      buttons[1].click();
      check("shows another event type", cell.dataset.c.split(",")[1] === cell.querySelector("b").textContent.replaceAll(",", ""));
      check("says which", one("#event").selectedIndex === 1 && buttons[1].getAttribute("aria-pressed") === "true");
      check("measures heat by it", document.querySelectorAll('.l[style="--h: 100;"]').length > 0);
      buttons[0].click();
      check("and the first again", cell.querySelector("b").textContent === first);
    }
    // Sorting.
    const heading = [...document.querySelectorAll("#functions th button")].find((it) => it.textContent === "Function");
    heading.click();
    const names = [...document.querySelectorAll("#functions tbody .name a")].map((it) => it.closest("td").textContent);
    check("sorts by name", names.length > 1 && names.every((name, nth) => nth === 0 || names[nth - 1] <= name));
    // The hottest line.
    press("n");
    const hottest = location.hash;
    check("goes to the hottest line", one(hottest).style.getPropertyValue("--h") === "100");
    press("n");
    check("and to the next", location.hash !== hottest);
    // Search.
    press("/");
    const box = one("#search");
    check("looks at the search box", document.activeElement === box);
    box.value = "by_weight";
    box.dispatchEvent(new Event("input"));
    press("Enter", box);
    check("finds a function", one(location.hash)?.textContent.includes("by_weight"));
    press("j");
    check("hides jumps", getComputedStyle(one(".j") ?? document.head).display === "none");
    press("?");
    check("explains its keys", one("#keys").open);
    press("?");
  } catch (error) {
    said.push(String(error));
  }
  document.documentElement.dataset.visit = said.length ? said.join("; ") : "well";
})();
</script>
</body>"##;

#[test]
fn the_page_works_in_a_browser() {
    let Some(browser) = browser() else { return };
    let folder = folder(&[]);
    for name in ["line-jumps", "full"].into_iter().step_by(one_in(2)) {
        let page = mill(folder.path(), name);
        let visited = folder.path().join("visited.html");
        std::fs::write(&visited, page.replace("</body>", VISIT)).unwrap();
        let looks = [(1440, false), (1440, true), (800, false), (800, true)];
        for (width, is_dark) in looks.into_iter().step_by(one_in(3)) {
            let (document, console) = open(browser, &visited, width, is_dark);
            let came = document.split("data-visit=\"").nth(1).and_then(|rest| rest.split('"').next());
            assert_eq!((came, console), (Some("well"), Vec::new()), "{name} {width} {is_dark}");
        }
    }
}

#[test]
fn an_error_in_a_page_is_seen() {
    let Some(browser) = browser() else { return };
    let folder = folder(&[("page.html", b"<!doctype html><script>missing();</script>")]);
    let (_, console) = open(browser, &folder.path().join("page.html"), 800, false);
    assert!(console.iter().any(|line| line.contains("missing is not defined")), "{console:?}");
}

#[test]
fn every_profile_makes_a_page() {
    let folder = folder(&[]);
    let page = folder.path().join("page.html");
    for path in corpus().into_iter().step_by(one_in(3)) {
        let output = run(&["annotate", "--format", "html", "-o", text(&page), "--force", text(&path)]);
        if stderr(&output).contains("the file is empty") {
            continue;
        }
        assert_eq!(code(&output), 0, "{}: {}", path.display(), stderr(&output));
        let html = std::fs::read_to_string(&page).unwrap();
        for tag in
            ["section", "table", "details", "div", "span", "code", "ul", "ol", "td", "tr", "a", "button"]
        {
            let opened =
                html.matches(&format!("<{tag} ")).count() + html.matches(&format!("<{tag}>")).count();
            assert_eq!(opened, html.matches(&format!("</{tag}>")).count(), "{}: {tag}", path.display());
        }
    }
}

#[test]
fn a_large_file_makes_a_page_of_some_size() {
    let lines: u64 = 100_000;
    let source: String =
        (1..=lines).map(|line| format!("int f{line}(int x) {{ return x * {line}; }}\n")).collect();
    let mut profile = "events: Ir\nfl=large.c\n".to_owned();
    for line in 1..=lines {
        profile.push_str(&format!("fn=f{line}\n{line} {}\n", line * 7919 % 10_007));
    }
    let folder = folder(&[("large.c", source.as_bytes()), ("callgrind.out.1", profile.as_bytes())]);
    let output = run_in(folder.path(), &["annotate", "--format", "html", "callgrind.out.1"]);
    let page = stdout(&output);
    let rows = page.matches("<div class=l ").count();
    assert!((1_000..=60_000).contains(&rows), "{rows}");
    assert!(page.len() < 16 << 20, "{}", page.len());
    assert!(page.contains("lines with costs are omitted"));
}

/// The page of the difference of two recordings of the project's own program.
fn difference(folder: &Path, more: &[&str]) -> String {
    let page = folder.join("diff.html");
    let files = ["callgrind/callgrind.out.mill", "callgrind/callgrind.out.mill-fast"];
    let arguments = [&["diff", "-o", text(&page), "--force"], &files[..], more].concat();
    let output = run_in(&root().join("corpus"), &arguments);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    std::fs::read_to_string(page).unwrap()
}

#[test]
fn the_page_of_a_difference_stands_alone() {
    let folder = folder(&[]);
    for more in [&[][..], &["--group", "file"], &["--function", "main"]] {
        let page = difference(folder.path(), more);
        for reference in ["src=", "http:", "https:", "@import", "url("] {
            assert!(!page.contains(reference), "{reference}");
        }
        for tag in
            ["section", "table", "thead", "tbody", "tfoot", "div", "span", "ul", "li", "td", "tr", "th", "b"]
        {
            let opened =
                page.matches(&format!("<{tag} ")).count() + page.matches(&format!("<{tag}>")).count();
            assert_eq!(opened, page.matches(&format!("</{tag}>")).count(), "{tag}");
        }
        // One design: the style and the script of all pages.
        let annotated = mill(folder.path(), "line-jumps");
        let style =
            |page: &str| page.split("/* The style of all pages. */").nth(1).unwrap()[..4000].to_owned();
        assert_eq!(style(&page), style(&annotated));
    }
}

#[test]
fn names_in_the_page_of_a_difference_are_never_markup() {
    let evil = "<script>document.title='pwned'</script><img src=x onerror=alert(1)>\"'\u{1b}[31m\u{202e}";
    let profile = |cost: u32| {
        format!(
            "# callgrind format\ncreator: {evil}{cost}\ncmd: {evil}\nevents: Ir\nob={evil}\nfl={evil}.c\nfn={evil}\n1 {cost}\n\
             cfn={evil}2\ncalls={cost} 3\n2 {cost}\nfn={evil}2\n1 {cost}\nfn={evil}{cost}\n9 77\n"
        )
    };
    let folder = folder(&[("base.out", profile(10).as_bytes()), ("new.out", profile(30).as_bytes())]);
    let function = format!("{evil}2");
    for more in [&[][..], &["--function", &function]] {
        let arguments = [&["diff", "--format", "html", "base.out", "new.out"], more].concat();
        let output = run_in(folder.path(), &arguments);
        assert_eq!(code(&output), 0, "{}", stderr(&output));
        let page = stdout(&output);
        assert_eq!((page.matches("<script>").count(), page.matches("</script>").count()), (1, 1));
        assert!(!page.contains("<img") && !page.contains('\u{1b}') && !page.contains('\u{202e}'));
        assert!(page.contains("&lt;script&gt;") && page.contains("\\x1b"), "{page}");
    }
}

/// Uses the page of a difference as a person would.
const COMPARE: &str = r##"<script>
"use strict";
(() => {
  const said = [];
  const check = (what, is) => { if (!is) said.push(what); };
  const one = (selector) => document.querySelector(selector);
  const press = (key, on = document.body) =>
    on.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
  try {
    check("fits into the window", document.documentElement.scrollWidth <= innerWidth);
    const dark = matchMedia("(prefers-color-scheme: dark)").matches;
    const ground = () => getComputedStyle(document.body).backgroundColor;
    const before = ground();
    check("follows the scheme of the system", dark === (Number(before.match(/\d+/)[0]) < 128));
    press("t");
    check("turns light and dark", ground() !== before);
    press("t");
    const column = (nth) => [...document.querySelectorAll("#functions tbody tr")].map((row) => row.cells[nth]);
    const headings = [...document.querySelectorAll("#functions th button")];
    headings.at(-1).click();
    const names = column(headings.length - 1).map((cell) => cell.textContent);
    check("sorts by name", names.length > 1 && names.every((name, nth) => nth === 0 || names[nth - 1] <= name));
    headings[0].click();
    const costs = column(0).map((cell) => Number(cell.dataset.s));
    check("sorts by change", costs.every((cost, nth) => nth === 0 || costs[nth - 1] >= cost));
    check("in both directions", costs[0] > 0 || costs.at(-1) < 0);
    press("/");
    const box = one("#search");
    check("looks at the search box", document.activeElement === box);
    box.value = names[0].slice(0, 4);
    box.dispatchEvent(new Event("input"));
    press("Enter", box);
    check("finds a function", one(location.hash)?.textContent.toLowerCase().includes(box.value.toLowerCase()));
    press("?");
    check("explains its keys", one("#keys").open);
    press("?");
  } catch (error) {
    said.push(String(error));
  }
  document.documentElement.dataset.visit = said.length ? said.join("; ") : "well";
})();
</script>
</body>"##;

#[test]
fn the_page_of_a_difference_works_in_a_browser() {
    let Some(browser) = browser() else { return };
    let folder = folder(&[]);
    let page = difference(folder.path(), &[]);
    let visited = folder.path().join("visited.html");
    std::fs::write(&visited, page.replace("</body>", COMPARE)).unwrap();
    for (width, is_dark) in [(1440, false), (800, true)] {
        let (document, console) = open(browser, &visited, width, is_dark);
        let came = document.split("data-visit=\"").nth(1).and_then(|rest| rest.split('"').next());
        assert_eq!((came, console), (Some("well"), Vec::new()), "{width} {is_dark}");
    }
}
