//! `cargo xtask pictures`: the pictures of the README, of what the program shows now.
//!
//! A terminal and a page are both opened in a headless Chromium.

use std::path::{Path, PathBuf};
use std::process::Command;

use clap::Args;

use crate::failure::{Context as _, Failure};
use crate::workspace;

#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Browser
    #[arg(long, default_value = "chromium")]
    browser: PathBuf,
    /// Directory for the pictures
    #[arg(long, default_value = "docs/images")]
    out: PathBuf,
}

/// The profile that the pictures show: its directory and its name.
const PROFILE: [&str; 2] = ["corpus/callgrind", "callgrind.out.mill-main"];

/// Columns and rows of the terminal.
const TERMINAL: [u32; 2] = [104, 40];

/// Size of a page, in pixels.
const PAGE: [u32; 2] = [1280, 800];

/// Width and height of a cell of the terminal in tenths of a pixel.
const CELL: [u32; 2] = [84, 180];

/// The space around the terminal, in pixels.
const MARGIN: u32 = 16;

pub(crate) fn run(options: &Options) -> Result<(), Failure> {
    let out = workspace::root().join(&options.out);
    std::fs::create_dir_all(&out).context(|| format!("cannot create {}", out.display()))?;
    workspace::run(workspace::cargo().args(["build", "--quiet", "--release", "-p", "gristmill"]))?;
    let program = workspace::target().join("release/gristmill");

    let work = workspace::target().join("pictures");
    std::fs::create_dir_all(&work).context(|| format!("cannot create {}", work.display()))?;
    let page = work.join("page.html");
    let shown = on_a_terminal(&program)?;
    std::fs::write(&page, terminal_page(&shown)).context(|| format!("cannot write {}", page.display()))?;
    let size = [0, 1].map(|axis| (TERMINAL[axis] * CELL[axis]).div_ceil(10) + 2 * MARGIN);
    photograph(&options.browser, &page, size, &out.join("first-screen.png"))?;

    let mut annotate = Command::new(&program);
    annotate.current_dir(workspace::root()).args(["annotate", "--format", "html", "--force", "-o"]);
    workspace::run(annotate.arg(&page).args(["--source-map", "/srv/demo/=corpus/", &PROFILE.join("/")]))?;
    photograph(&options.browser, &page, PAGE, &out.join("annotate.png"))
}

/// Returns the first screen as a terminal gets it, with colours. The commands in it have the name of the profile, as the one above
/// it in the picture has.
fn on_a_terminal(program: &Path) -> Result<String, Failure> {
    let [columns, rows] = TERMINAL;
    let [directory, profile] = PROFILE;
    let command = format!("stty cols {columns} rows {rows}; '{}' --no-pager {profile}", program.display());
    let mut script = Command::new("script");
    script.args(["--quiet", "--return", "--command", &command, "/dev/null"]);
    script
        .current_dir(workspace::root().join(directory))
        .env("TERM", "xterm-256color")
        .env_remove("NO_COLOR");
    let output = script.output().context(|| "cannot run script".to_owned())?;
    if !output.status.success() {
        return Err(Failure::new(format!("{} ended with {}", workspace::shown(&script), output.status)));
    }
    Ok(String::from_utf8_lossy(&output.stdout).replace('\r', ""))
}

/// Returns the page that looks like a terminal with this text below the command.
fn terminal_page(shown: &str) -> String {
    let mut body = format!("<b>$ gristmill {}</b>\n", PROFILE[1]);
    let mut is_styled = false;
    let mut pieces = shown.split("\x1b[");
    body.push_str(&escaped(pieces.next().unwrap_or_default()));
    for piece in pieces {
        let (codes, text) = piece.split_once('m').unwrap_or(("0", piece));
        if std::mem::take(&mut is_styled) {
            body.push_str("</span>");
        }
        let style: String = codes.split(';').filter_map(style_of).collect();
        if !style.is_empty() {
            body.push_str(&format!("<span style=\"{style}\">"));
            is_styled = true;
        }
        body.push_str(&escaped(text));
    }
    let [width, height] = CELL.map(|tenths| f64::from(tenths) / 10.0);
    format!(
        "<!doctype html><meta charset=utf-8><style>body {{ margin: {MARGIN}px; background: #0d1117; color: #d8dee6; \
         font: {}px/{height}px 'DejaVu Sans Mono', monospace; white-space: pre; }}</style>{body}",
        width / 0.602
    )
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;")
}

/// Returns the declaration of style for a code of the terminal.
fn style_of(code: &str) -> Option<&'static str> {
    Some(match code {
        "1" => "font-weight: bold; color: #fff;",
        "2" => "color: #8b949e;",
        "31" | "91" => "color: #ff7b72;",
        "32" | "92" => "color: #7ee787;",
        "33" | "93" => "color: #e3b341;",
        "34" | "94" => "color: #79c0ff;",
        "35" | "95" => "color: #d2a8ff;",
        "36" | "96" => "color: #76e3ea;",
        _ => return None,
    })
}

/// Takes a picture of a page.
fn photograph(browser: &Path, page: &Path, [width, height]: [u32; 2], to: &Path) -> Result<(), Failure> {
    let profile = page.with_file_name("browser");
    let mut command = Command::new(browser);
    // Containers have no room for its sandbox, and the pages are our own.
    command.args([
        "--headless=new",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-dev-shm-usage",
        "--hide-scrollbars",
    ]);
    command.arg(format!("--user-data-dir={}", profile.display()));
    command.arg(format!("--window-size={width},{height}"));
    command.arg(format!("--screenshot={}", to.display())).arg(format!("file://{}", page.display()));
    command.stderr(std::process::Stdio::null());
    workspace::run(&mut command)?;
    println!("{}", to.display());
    Ok(())
}
