//! A layout as an SVG picture.

use std::fmt::Write as _;

use super::{ArcPath, Layout};

/// Texts and colours of a picture. A list may be shorter than what is drawn: the rest has the default. See the
/// example of [`layout`](super::layout).
#[derive(Debug, Clone, Default)]
pub struct SvgStyle {
    /// By node: the lines of text in its box.
    pub node_lines: Vec<Vec<String>>,
    /// By node: the colour of its box, as CSS writes it.
    pub node_colors: Vec<String>,
    /// By arc: its label.
    pub arc_labels: Vec<String>,
    /// By arc: the width of its line.
    pub arc_widths: Vec<f64>,
    /// By cluster: its title.
    pub cluster_titles: Vec<String>,
    /// The size of text.
    pub font_size: f64,
}

/// Distance of the picture from its edge.
const MARGIN: f64 = 10.0;

/// Returns an SVG document. All texts are escaped, and control characters become U+FFFD.
pub fn to_svg(layout: &Layout, style: &SvgStyle) -> String {
    let font = if style.font_size > 0.0 { style.font_size } else { 12.0 };
    let (width, height) = (layout.size.width + 2.0 * MARGIN, layout.size.height + 2.0 * MARGIN);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{height:.0}\" \
         viewBox=\"-{MARGIN} -{MARGIN} {width:.1} {height:.1}\" font-family=\"sans-serif\" font-size=\"{font}\">\n\
         <rect x=\"-{MARGIN}\" y=\"-{MARGIN}\" width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n"
    );
    for (index, bounds) in layout.clusters.iter().enumerate().filter(|(_, bounds)| bounds.width > 0.0) {
        _ = writeln!(
            svg,
            "<rect x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{:.1}\" rx=\"6\" fill=\"#f2f4f7\" stroke=\"#c3cad4\"/>",
            bounds.x, bounds.y, bounds.width, bounds.height
        );
        if let Some(title) = style.cluster_titles.get(index) {
            text(&mut svg, bounds.x + 8.0, bounds.y + font + 2.0, "start", "#5b6776", title);
        }
    }
    for (index, arc) in layout.arcs.iter().enumerate() {
        draw_arc(&mut svg, arc, style.arc_widths.get(index).copied().unwrap_or(1.0));
    }
    for (index, bounds) in layout.nodes.iter().enumerate() {
        _ = write!(
            svg,
            "<rect x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{:.1}\" rx=\"4\" stroke=\"#4a5563\" fill=\"",
            bounds.x, bounds.y, bounds.width, bounds.height
        );
        escape(&mut svg, style.node_colors.get(index).map_or("#ffffff", String::as_str));
        svg.push_str("\"/>\n");
        let lines = style.node_lines.get(index).map_or(&[][..], Vec::as_slice);
        let first =
            bounds.y + bounds.height / 2.0 + font * 0.36 - font * 0.6 * (lines.len().max(1) - 1) as f64;
        for (line, content) in lines.iter().enumerate() {
            let y = first + font * 1.2 * line as f64;
            text(&mut svg, bounds.x + bounds.width / 2.0, y, "middle", "#16202c", content);
        }
    }
    for (label, arc) in style.arc_labels.iter().zip(&layout.arcs).filter(|(label, _)| !label.is_empty()) {
        text(&mut svg, arc.label[0], arc.label[1] + font * 0.36, "middle", "#3d4856", label);
    }
    svg.push_str("</svg>\n");
    svg
}

fn draw_arc(svg: &mut String, arc: &ArcPath, line_width: f64) {
    let Some((first, rest)) = arc.points.split_first() else { return };
    let width = if line_width.is_finite() { line_width.clamp(0.2, 20.0) } else { 1.0 };
    _ = write!(
        svg,
        "<path fill=\"none\" stroke=\"#6b7787\" stroke-width=\"{width:.2}\" d=\"M{:.1} {:.1}",
        first[0], first[1]
    );
    for curve in rest.chunks_exact(3) {
        _ = write!(
            svg,
            " C{:.1} {:.1} {:.1} {:.1} {:.1} {:.1}",
            curve[0][0], curve[0][1], curve[1][0], curve[1][1], curve[2][0], curve[2][1]
        );
    }
    svg.push_str("\"/>\n");
    // The head of the arrow points along the end of the curve.
    let end = arc.points[arc.points.len() - 1];
    let before = arc.points.iter().rev().find(|point| (point[0] - end[0]).hypot(point[1] - end[1]) > 0.01);
    if let Some(before) = before {
        let length = (end[0] - before[0]).hypot(end[1] - before[1]);
        let (x, y) = ((end[0] - before[0]) / length, (end[1] - before[1]) / length);
        let size = 6.0 + width;
        let (back_x, back_y) = (end[0] - x * size, end[1] - y * size);
        let half = size * 0.45;
        _ = writeln!(
            svg,
            "<path fill=\"#6b7787\" d=\"M{:.1} {:.1} L{:.1} {:.1} L{:.1} {:.1} Z\"/>",
            end[0],
            end[1],
            back_x - y * half,
            back_y + x * half,
            back_x + y * half,
            back_y - x * half
        );
    }
}

fn text(svg: &mut String, x: f64, y: f64, anchor: &str, color: &str, content: &str) {
    _ = write!(svg, "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\" fill=\"{color}\">");
    escape(svg, content);
    svg.push_str("</text>\n");
}

fn escape(svg: &mut String, content: &str) {
    for character in content.chars() {
        match character {
            '&' => svg.push_str("&amp;"),
            '<' => svg.push_str("&lt;"),
            '>' => svg.push_str("&gt;"),
            '"' => svg.push_str("&quot;"),
            '\'' => svg.push_str("&#39;"),
            character if character.is_control() || matches!(character, '\u{fffe}' | '\u{ffff}') => {
                svg.push('\u{fffd}')
            }
            character => svg.push(character),
        }
    }
}
