//! One line on a name of cuTile under the cursor.

use crate::Engine;
use crate::queries::HoverText;
use crate::view::FileView;

impl Engine {
    pub(crate) fn explain(&self, _file: &FileView, _offset: usize) -> Option<HoverText> {
        None
    }
}
