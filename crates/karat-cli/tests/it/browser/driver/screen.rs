//! Screens of any size, light and dark, print emulation, and screenshots.

use super::Tab;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::json;
use std::path::Path;

/// A screen, in terms of media queries.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Screen {
    pub(crate) name: &'static str,
    pub(crate) width: u32,
    pub(crate) height: u32,
    pub(crate) scale: f64,
    pub(crate) touch: bool,
    pub(crate) dark: bool,
}

impl Screen {
    pub(crate) const PHONE: Self =
        Self { name: "phone", width: 390, height: 844, scale: 2.0, touch: true, dark: false };
    /// The narrowest phones sold.
    pub(crate) const NARROW: Self = Self { name: "narrow", width: 360, height: 740, ..Self::PHONE };
    pub(crate) const LAPTOP: Self =
        Self { name: "laptop", width: 1366, height: 768, scale: 1.0, touch: false, dark: false };
    pub(crate) const WIDE: Self = Self { name: "wide", width: 2560, height: 1440, ..Self::LAPTOP };

    /// The same in dark mode.
    pub(crate) const fn dark(self) -> Self {
        Self { dark: true, ..self }
    }

    /// The screens for screenshots.
    pub(crate) const ALL: [Self; 6] =
        [Self::PHONE, Self::PHONE.dark(), Self::LAPTOP, Self::LAPTOP.dark(), Self::WIDE, Self::WIDE.dark()];
}

impl std::fmt::Display for Screen {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}-{}", self.name, if self.dark { "dark" } else { "light" })
    }
}

impl Tab {
    /// Emulates another screen.
    #[track_caller]
    pub(crate) fn emulate(&self, screen: Screen) {
        let Screen { width, height, scale, touch, dark, .. } = screen;
        let metrics = json!({ "width": width, "height": height, "deviceScaleFactor": scale, "mobile": touch });
        self.call("Emulation.setDeviceMetricsOverride", metrics);
        self.call("Emulation.setTouchEmulationEnabled", json!({ "enabled": touch, "maxTouchPoints": 1 }));
        self.media("", dark);
        self.screen.set(screen);
    }

    /// Emulates print media, or the screen again.
    #[track_caller]
    pub(crate) fn emulate_print(&self, paper: bool) {
        self.media(if paper { "print" } else { "" }, self.screen.get().dark);
        // Printing sends these events, emulation does not.
        let event = if paper { "beforeprint" } else { "afterprint" };
        self.eval(&format!("dispatchEvent(new Event('{event}'))"));
    }

    fn media(&self, media: &str, dark: bool) {
        let scheme = json!({ "name": "prefers-color-scheme", "value": if dark { "dark" } else { "light" } });
        self.call("Emulation.setEmulatedMedia", json!({ "media": media, "features": [scheme] }));
    }

    /// Asserts that the page does not scroll sideways, and names what overflows. On a phone the viewport grows with
    /// its content, so the width of the screen counts.
    #[track_caller]
    pub(crate) fn assert_fits(&self) {
        let width = self.screen.get().width;
        let js = format!(
            "(() => {{
               if (document.scrollingElement.scrollWidth <= {width}) return [];
               const scrolls = (e) => e && e !== document.body && e !== document.documentElement &&
                 (getComputedStyle(e).overflowX !== 'visible' || scrolls(e.parentElement));
               return [...document.body.querySelectorAll('*')]
                 .map((e) => [e, e.getBoundingClientRect()])
                 .map(([e, box]) => [e, Math.round(box.left + Math.max(box.width, e.scrollWidth))])
                 .filter(([e, right]) => right > {width} && !scrolls(e))
                 .map(([e, right]) => right + ' px: ' + e.outerHTML.slice(0, 160))
                 .concat('the page is ' + document.scrollingElement.scrollWidth + ' px wide').slice(-12);
             }})()"
        );
        let wide = self.eval(&js);
        let wide: Vec<&str> = wide.as_array().into_iter().flatten().filter_map(|e| e.as_str()).collect();
        let screen = self.screen.get();
        assert!(wide.is_empty(), "{} does not fit on {screen}, {width} px:\n{}", self.url(), wide.join("\n"));
    }

    /// What print would cut off: elements wider than the paper, or than their scroll container.
    #[track_caller]
    pub(crate) fn overflows_in_print(&self) -> Vec<String> {
        let before = self.screen.get();
        let sheet = |width| Screen { name: "paper", width, height: width * 297 / 210, ..Screen::LAPTOP };
        // A4 at 96 dpi, less Chromium's margins; wider content is shrunk down to one half.
        self.emulate(sheet(718));
        self.emulate_print(true);
        let wide =
            self.eval("document.scrollingElement.scrollWidth").as_u64().and_then(|wide| u32::try_from(wide).ok());
        self.emulate(sheet(wide.unwrap_or(718).clamp(718, 2 * 718)));
        self.emulate_print(true);
        let cut = self.eval(
            "[...document.querySelectorAll('main, main *')].filter((e) => e.checkVisibility() &&
               (e.getBoundingClientRect().right > innerWidth + 1 ||
                getComputedStyle(e).overflowX !== 'visible' && e.scrollWidth > e.clientWidth + 1))
             .map((e) => e.scrollWidth + ' in ' + e.clientWidth + ' px: ' + e.outerHTML.slice(0, 160)).slice(0, 8)",
        );
        self.emulate_print(false);
        self.emulate(before);
        cut.as_array().into_iter().flatten().map(|e| e.as_str().unwrap_or_default().to_owned()).collect()
    }

    /// Saves a screenshot.
    #[track_caller]
    pub(crate) fn screenshot(&self, path: &Path) {
        let shot = self.call("Page.captureScreenshot", json!({ "format": "png" }));
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
        }
        std::fs::write(path, bytes(&shot["data"])).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    }

    /// Saves screenshots on all screens if `KARAT_SCREENSHOTS` names a folder.
    #[track_caller]
    pub(crate) fn save_screenshots(&self, view: &str) {
        let Some(folder) = std::env::var_os("KARAT_SCREENSHOTS").filter(|folder| !folder.is_empty()) else { return };
        let before = self.screen.get();
        for screen in Screen::ALL {
            self.emulate(screen);
            self.eval("new Promise((r) => requestAnimationFrame(() => setTimeout(r, 150)))");
            self.screenshot(&Path::new(&folder).join(format!("{view}-{screen}.png")));
        }
        self.emulate(before);
    }

    /// The page as PDF.
    #[track_caller]
    pub(crate) fn print_pdf(&self) -> Vec<u8> {
        let printed = self.call("Page.printToPDF", json!({ "printBackground": true, "preferCSSPageSize": true }));
        bytes(&printed["data"])
    }
}

#[track_caller]
fn bytes(data: &serde_json::Value) -> Vec<u8> {
    let text = data.as_str().unwrap_or_else(|| panic!("no data came back: {data}"));
    STANDARD.decode(text).unwrap_or_else(|error| panic!("the result is not base64: {error}"))
}
