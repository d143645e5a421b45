//! The pieces that all HTML pages share: style, the bar on top with its search, sorting of tables, keys.
//!
//! A page is one file that needs no network, and is readable without its script.

use std::io::{self, Write};

use gristmill_output::html::Escaped;

/// The start and the end of a page.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Frame<'f> {
    /// The name of what the page is about.
    pub(crate) subject: &'f str,
    /// Attributes of the document for the script: safe HTML.
    pub(crate) data: &'f str,
    /// The style of the page, after that of all pages.
    pub(crate) style: &'f str,
    /// The script of the page, after that of all pages.
    pub(crate) script: &'f str,
    /// Links before everything else, for keyboards: safe HTML.
    pub(crate) skip: &'f str,
    /// The things that the search finds.
    pub(crate) searches: &'f str,
    /// Keys besides those of all pages, each with what it does: safe HTML.
    pub(crate) keys: &'f [(&'f str, &'f str)],
    /// The text at the end.
    pub(crate) foot: &'f str,
}

impl Frame<'_> {
    /// Writes the start of the page, with the bar on top. `controls` are elements of the bar: safe HTML.
    pub(crate) fn write_start(&self, controls: &str, out: &mut dyn Write) -> io::Result<()> {
        writeln!(
            out,
            "<!doctype html>\n<html lang=en{0}>\n<head>\n<meta charset=utf-8>\n\
             <meta name=viewport content=\"width=device-width, initial-scale=1\">\n\
             <meta http-equiv=Content-Security-Policy content=\"default-src 'none'; style-src 'unsafe-inline'; \
             script-src 'unsafe-inline'; img-src data:\">\n<link rel=icon href=\"data:,\">\n\
             <title>{1} · gristmill</title>\n<style>\n{2}{3}</style>\n</head>\n<body>\n{4}<header class=bar>\n\
             <a class=brand href=#top>gristmill</a>\n<span class=subject title=\"{1}\">{1}</span>",
            self.data,
            Escaped(self.subject),
            include_str!("page/style.css"),
            self.style,
            self.skip,
        )?;
        out.write_all(controls.as_bytes())?;
        writeln!(
            out,
            "<div class=\"search scripted-only\"><input id=search type=search placeholder=\"Search\" \
             aria-label=\"Search {}\" autocomplete=off spellcheck=false><kbd>/</kbd>\
             <div id=results role=listbox></div></div>\n\
             <button id=theme class=scripted-only title=\"Light or dark (t)\" aria-label=\"Light or dark\">◐</button>\n\
             <button id=help class=scripted-only title=\"Keys (?)\" aria-label=\"Keys\">?</button>\n</header>\n\
             <main id=top>",
            self.searches
        )
    }

    /// Writes the end of the page.
    pub(crate) fn write_end(&self, out: &mut dyn Write) -> io::Result<()> {
        write!(
            out,
            "<footer>{}</footer>\n</main>\n<dialog id=keys><h2>Keys</h2><dl><dt><kbd>/</kbd></dt><dd>search {}</dd>",
            self.foot, self.searches
        )?;
        let shared = [("t", "light or dark"), ("g", "to the top")];
        for (keys, does) in self.keys.iter().chain(&shared) {
            let keys: Vec<String> = keys.split(' ').map(|key| format!("<kbd>{key}</kbd>")).collect();
            write!(out, "<dt>{}</dt><dd>{does}</dd>", keys.join(" "))?;
        }
        writeln!(
            out,
            "</dl><form method=dialog><button>Close</button></form></dialog>\n<script>\n\"use strict\";\n(() => {{\n{}{}}})();\n\
             </script>\n</body>\n</html>",
            include_str!("page/script.js"),
            self.script
        )
    }
}

/// Returns the heading of a column that can be sorted.
pub(crate) fn heading(name: &str) -> String {
    let name = Escaped(name);
    format!("<button class=scripted-only>{name}</button><noscript><span>{name}</span></noscript>")
}

/// Returns a text with the whole one beside the pointer, if it was shortened.
pub(crate) fn titled(shown: &str, whole: &str) -> String {
    if shown == whole {
        Escaped(shown).to_string()
    } else {
        format!("<span title=\"{}\">{}</span>", Escaped(whole), Escaped(shown))
    }
}
