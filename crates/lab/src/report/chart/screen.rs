//! Screens that a chart is drawn for.

/// For which screen. Letters have the same size on both, so that they can be read on both.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Width {
    /// A desk.
    Wide,
    /// A phone.
    Narrow,
}

impl Width {
    /// Width of the drawing.
    pub fn pixels(self) -> f64 {
        match self {
            Self::Wide => 760.0,
            Self::Narrow => 328.0,
        }
    }

    /// Height of each of so many panels.
    pub(super) fn panel_height(self, panels: usize) -> f64 {
        match (self, panels) {
            (Self::Wide, 1) => 280.0,
            (Self::Narrow, 1) => 230.0,
            _ => 150.0,
        }
    }
}
