//! Texts of a plot as outlines of the built-in font, so that a PNG needs neither system fonts nor a text layout engine.

use super::RULES;
use super::svg::number;
use ttf_parser::{Face, GlyphId, OutlineBuilder};

/// The fonts of PNG pictures by name. They are built in; a font that cannot be read is left out.
pub fn built_in_fonts() -> Vec<&'static str> {
    let fonts = [("Noto Sans", notosans::REGULAR_TTF), ("Noto Sans Bold", notosans::BOLD_TTF)];
    fonts.into_iter().filter(|(_, data)| Face::parse(data, 0).is_ok()).map(|(name, _)| name).collect()
}

/// The SVG file of a plot with a path for each text.
pub(super) fn outline_texts(svg: &str) -> Option<String> {
    let regular = Face::parse(notosans::REGULAR_TTF, 0).ok()?;
    let bold = Face::parse(notosans::BOLD_TTF, 0).ok()?;
    let mut out = String::with_capacity(2 * svg.len());
    // The rule for texts becomes the one for what replaces them.
    let svg = svg.replace(".plot text{", ".plot .glyphs{");
    let mut rest = svg.as_str();
    while let Some((before, element)) = rest.split_once("<text") {
        let (attributes, element) = element.split_once('>')?;
        let (words, after) = element.split_once("</text>")?;
        let class = attribute(attributes, "class").unwrap_or_default();
        let style =
            |property: &str| class.split(' ').find_map(|class| declared(&format!(".plot .{class}{{"), property));
        let face = if style("font-weight").is_some() { &bold } else { &regular };
        let size = style("font-size").or_else(|| declared(".plot text{", "font-size"))?;
        let scale = size.strip_suffix("px")?.parse::<f64>().ok()? / f64::from(face.units_per_em());
        let glyphs: Vec<(GlyphId, f64)> = unescape(words).chars().map(|c| glyph(face, c)).collect();
        let width = glyphs.iter().map(|(_, advance)| advance).sum::<f64>() * scale;
        let coordinate = |name| attribute(attributes, name).and_then(|value| value.parse::<f64>().ok());
        let start = coordinate("x").unwrap_or(0.0)
            - match attribute(attributes, "text-anchor") {
                Some("middle") => width / 2.0,
                Some("end") => width,
                _ => 0.0,
            };
        let mut path = Outline { path: String::new(), scale, x: start, y: coordinate("y").unwrap_or(0.0) };
        for (id, advance) in glyphs {
            face.outline_glyph(id, &mut path);
            path.x += advance * scale;
        }
        let turned = attribute(attributes, "transform").map(|own| format!(" transform=\"{own}\"")).unwrap_or_default();
        out.push_str(before);
        out.push_str(&format!("<path class=\"glyphs {class}\"{turned} d=\"{}\"/>", path.path));
        rest = after;
    }
    out.push_str(rest);
    Some(out)
}

/// The glyph of a character with its advance; a character that the font does not have is a box.
fn glyph(face: &Face<'_>, c: char) -> (GlyphId, f64) {
    let id = face.glyph_index(c).unwrap_or(GlyphId(0));
    (id, f64::from(face.glyph_hor_advance(id).unwrap_or(0)))
}

fn attribute<'a>(attributes: &'a str, name: &str) -> Option<&'a str> {
    let (_, value) = attributes.split_once(&format!(" {name}=\""))?;
    Some(value.split_once('"')?.0)
}

/// What a rule of the style sheet declares.
fn declared(selector: &str, property: &str) -> Option<&'static str> {
    let (block, _) = RULES.split_once(selector)?.1.split_once('}')?;
    block.split(';').find_map(|one| one.split_once(':').filter(|(name, _)| *name == property).map(|(_, value)| value))
}

/// Undoes [`crate::page::text`].
fn unescape(text: &str) -> String {
    text.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&amp;", "&")
}

struct Outline {
    path: String,
    scale: f64,
    x: f64,
    y: f64,
}

impl Outline {
    fn push(&mut self, command: char, points: &[(f32, f32)]) {
        self.path.push(command);
        for (x, y) in points {
            let (x, y) = (self.x + f64::from(*x) * self.scale, self.y - f64::from(*y) * self.scale);
            self.path.push_str(&format!("{} {} ", number(x), number(y)));
        }
    }
}

impl OutlineBuilder for Outline {
    fn move_to(&mut self, x: f32, y: f32) {
        self.push('M', &[(x, y)]);
    }
    fn line_to(&mut self, x: f32, y: f32) {
        self.push('L', &[(x, y)]);
    }
    fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        self.push('Q', &[(x1, y1), (x, y)]);
    }
    fn curve_to(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32) {
        self.push('C', &[(x1, y1), (x2, y2), (x, y)]);
    }
    fn close(&mut self) {
        self.path.push('Z');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(svg: &str) -> String {
        outline_texts(svg).unwrap()
    }

    /// The smallest and largest first coordinate of a path.
    fn extent(svg: &str) -> (f64, f64) {
        let data = svg.split_once(" d=\"").unwrap().1.split_once('"').unwrap().0;
        let points: Vec<f64> =
            data.split(|c: char| c.is_ascii_alphabetic() || c == ' ').filter_map(|one| one.parse().ok()).collect();
        let xs = || points.iter().step_by(2).copied();
        (xs().fold(f64::INFINITY, f64::min), xs().fold(f64::NEG_INFINITY, f64::max))
    }

    #[test]
    fn texts_become_paths_at_their_places() {
        let start = extent(&path("<text x=\"100\" y=\"20\">nnnn</text>"));
        let middle = extent(&path("<text x=\"100\" y=\"20\" text-anchor=\"middle\">nnnn</text>"));
        let end = extent(&path("<text x=\"100\" y=\"20\" text-anchor=\"end\">nnnn</text>"));
        assert!(start.0 > 100.0 && end.1 < 100.0 && (middle.0 + middle.1 - 200.0).abs() < 2.0, "{start:?} {middle:?}");
        let width = |svg: &str| extent(&path(svg)).1;
        let plain = width("<text x=\"0\" y=\"0\">nnnn</text>");
        assert!(width("<text class=\"small\" x=\"0\" y=\"0\">nnnn</text>") < plain);
        assert!(width("<text class=\"dim strong\" x=\"0\" y=\"0\">nnnn</text>") > plain);
    }

    #[test]
    fn everything_else_stays_as_it_is() {
        let drawn = path("<g><text class=\"dim\" transform=\"rotate(-90)\">a &lt; b</text><rect/></g><text>審</text>");
        assert!(drawn.starts_with("<g><path class=\"glyphs dim\" transform=\"rotate(-90)\" d=\"M"), "{drawn}");
        assert!(drawn.contains("/><rect/></g><path class=\"glyphs \" d=\"M"), "{drawn}");
        assert!(!drawn.contains("<text"), "{drawn}");
    }
}
