//! Colours of standalone pictures, written out because renderers do not support CSS variables.

use super::RULES;

/// Light or dark.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Theme {
    /// Dark on light.
    #[default]
    Light,
    /// Light on dark.
    Dark,
}

impl Theme {
    pub(super) fn style(self) -> String {
        let mut style = RULES.to_owned();
        for (name, light, dark) in COLOURS {
            style = style.replace(&format!("var(--{name})"), if self == Self::Light { light } else { dark });
        }
        let paper = COLOURS.iter().find(|(name, ..)| *name == "paper");
        let paper = paper.map_or("#fff", |(_, light, dark)| if self == Self::Light { light } else { dark });
        format!("{style}.plot text{{font-family:'Noto Sans',system-ui,sans-serif}}\n.plot .paper{{fill:{paper}}}\n")
    }
}

const COLOURS: &[(&str, &str, &str)] = &[
    ("ink", "#1c2430", "#e8edf3"),
    ("dim", "#566170", "#a3afbd"),
    ("line", "#d5dbe3", "#37414e"),
    ("paper", "#fff", "#12171e"),
    ("soft", "#f4f6f9", "#1b222c"),
    ("accent", "#1d5bb8", "#7fb0ff"),
    ("good", "#146c2e", "#7fd897"),
    ("bad", "#a4161a", "#ff9a9c"),
    ("warn", "#7a4b00", "#f2c277"),
    ("t1", "#1d5bb8", "#7fb0ff"),
    ("t2", "#b35900", "#ffa94d"),
    ("t3", "#14803c", "#63d68b"),
    ("t4", "#a1308f", "#f08be0"),
    ("t5", "#7a4f2b", "#d9b08c"),
    ("t6", "#00798c", "#4fd5e6"),
    ("t7", "#c1272d", "#ff8a8a"),
    ("t8", "#6b6a00", "#d4d95a"),
];

#[cfg(test)]
mod tests {
    use super::*;

    /// How bright a colour is, from 0 to 1, by the definition of WCAG.
    fn luminance(colour: &str) -> f64 {
        let digits = colour.trim_start_matches('#');
        let long: String =
            if digits.len() == 3 { digits.chars().flat_map(|c| [c, c]).collect() } else { digits.into() };
        let part = |at: usize| {
            let v = f64::from(u8::from_str_radix(&long[at..at + 2], 16).unwrap()) / 255.0;
            if v <= 0.04045 { v / 12.92 } else { ((v + 0.055) / 1.055).powf(2.4) }
        };
        0.2126 * part(0) + 0.7152 * part(2) + 0.0722 * part(4)
    }

    #[test]
    fn every_colour_stands_out_from_the_paper() {
        let (_, light, dark) = COLOURS.iter().find(|(name, ..)| *name == "paper").unwrap();
        for (name, on_light, on_dark) in COLOURS.iter().filter(|(name, ..)| !["paper", "soft", "line"].contains(name)) {
            for (colour, paper) in [(on_light, light), (on_dark, dark)] {
                let (a, b) = (luminance(colour), luminance(paper));
                let contrast = (a.max(b) + 0.05) / (a.min(b) + 0.05);
                assert!(contrast >= 4.5, "--{name}: {colour} on {paper} has a contrast of {contrast:.2}");
            }
        }
    }

    #[test]
    fn pictures_have_the_colours_of_pages() {
        let pages = format!("{}{}", include_str!("../page/page.css"), super::super::STYLE);
        for (name, light, dark) in COLOURS {
            assert!(pages.contains(&format!("--{name}:{light}")), "--{name} is not {light} on a light page");
            assert_eq!(pages.matches(&format!("--{name}:{dark}")).count(), 2, "--{name} is not {dark} on a dark page");
        }
        for theme in [Theme::Light, Theme::Dark] {
            assert!(!theme.style().contains("var("), "a colour has no value: {}", theme.style());
        }
    }
}
