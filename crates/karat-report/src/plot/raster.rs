//! Rasterises SVG to PNG.

use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{Options, Tree, fontdb::Database};
use std::sync::Arc;

/// An error of rasterising a plot.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum RasterError {
    #[error("an image of {width} × {height} pixels is too large; choose a smaller scale, fewer tools, or SVG")]
    TooLarge { width: u64, height: u64 },
    #[error("could not draw the PNG: {0}; use SVG")]
    Failed(String),
}

const MOST_PIXELS: u64 = 100_000_000;

pub(super) fn png(svg: &str, scale: f64) -> Result<Vec<u8>, RasterError> {
    let mut fonts = Database::new();
    fonts.load_font_data(notosans::REGULAR_TTF.to_vec());
    fonts.load_font_data(notosans::BOLD_TTF.to_vec());
    let options = Options { font_family: "Noto Sans".to_owned(), fontdb: Arc::new(fonts), ..Options::default() };
    let tree = Tree::from_str(svg, &options).map_err(|error| RasterError::Failed(error.to_string()))?;
    let side = |length: f32| (f64::from(length) * scale).ceil().clamp(1.0, 1e9) as u64;
    let (width, height) = (side(tree.size().width()), side(tree.size().height()));
    let pixels = match (u32::try_from(width), u32::try_from(height)) {
        (Ok(w), Ok(h)) if width * height <= MOST_PIXELS => Pixmap::new(w, h),
        _ => None,
    };
    let mut pixels = pixels.ok_or(RasterError::TooLarge { width, height })?;
    resvg::render(&tree, Transform::from_scale(scale as f32, scale as f32), &mut pixels.as_mut());
    pixels.encode_png().map_err(|error| RasterError::Failed(error.to_string()))
}
