//! The files of the page.

/// The files of the page, each whole. See the example of [the crate](crate).
#[derive(Debug, Clone, Copy)]
pub struct Page {
    /// `/`: HTML.
    pub document: &'static [u8],
    /// `/app.js`.
    pub script: &'static [u8],
    /// `/style.css`.
    pub style: &'static [u8],
}

impl Page {
    /// Returns the file at a path of an address, with its media type.
    pub(crate) fn file(&self, path: &str) -> Option<(&'static str, &'static [u8])> {
        match path {
            "/" => Some(("text/html; charset=utf-8", self.document)),
            "/app.js" => Some(("text/javascript; charset=utf-8", self.script)),
            "/style.css" => Some(("text/css; charset=utf-8", self.style)),
            _ => None,
        }
    }
}
