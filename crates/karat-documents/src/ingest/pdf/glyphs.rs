//! Collects the characters of a page as the library draws them.

use pdf_extract::{ColorSpace, MediaBox, OutputDev, OutputError, Path, PathOp, Transform};

/// A character or ligature.
#[derive(Clone, Debug)]
pub(super) struct Glyph {
    pub(super) x: f64,
    pub(super) y: f64,
    pub(super) end: f64,
    pub(super) size: f64,
    pub(super) bold: bool,
    pub(super) text: String,
}

#[derive(Debug, Default)]
pub(super) struct Canvas {
    pub(super) glyphs: Vec<Glyph>,
    pub(super) turned: usize,
    /// By number of the font.
    pub(super) bold: Vec<bool>,
    pub(super) font: usize,
}

/// A page of small print has about ten thousand.
const MOST_GLYPHS: usize = 200_000;

impl OutputDev for Canvas {
    fn begin_page(&mut self, _: u32, _: &MediaBox, _: Option<(f64, f64, f64, f64)>) -> Result<(), OutputError> {
        Ok(())
    }

    fn end_page(&mut self) -> Result<(), OutputError> {
        Ok(())
    }

    fn output_character(
        &mut self,
        at: &Transform,
        width: f64,
        _: f64,
        font_size: f64,
        text: &str,
    ) -> Result<(), OutputError> {
        let size = (font_size * at.m21.hypot(at.m22)).abs();
        let end = at.m31 + width * font_size * at.m11;
        let sound = [at.m31, at.m32, size, end].iter().all(|n| n.is_finite() && n.abs() < 1e6);
        if text.is_empty() || !sound || size < 0.5 || self.glyphs.len() >= MOST_GLYPHS {
            return Ok(());
        }
        if at.m12.abs() > at.m11.abs() * 0.3 {
            self.turned += 1;
            return Ok(());
        }
        let bold = self.bold.get(self.font).copied().unwrap_or_default();
        let (x, end) = (at.m31.min(end), at.m31.max(end));
        let text = text.chars().filter(|c| !c.is_control()).collect();
        self.glyphs.push(Glyph { x, y: at.m32, end, size, bold, text });
        Ok(())
    }

    fn begin_word(&mut self) -> Result<(), OutputError> {
        Ok(())
    }

    fn end_word(&mut self) -> Result<(), OutputError> {
        Ok(())
    }

    fn end_line(&mut self) -> Result<(), OutputError> {
        Ok(())
    }

    /// The library reports no fonts: the rewritten page draws an invisible path at the number of each font it changes to.
    fn stroke(&mut self, _: &Transform, _: &ColorSpace, _: &[f64], path: &Path) -> Result<(), OutputError> {
        if let Some(PathOp::MoveTo(number, _)) = path.ops.last() {
            // Font numbers are small integers written as such.
            self.font = *number as usize;
        }
        Ok(())
    }
}
