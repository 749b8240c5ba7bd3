//! A small project in a temporary folder.

use std::path::{Path, PathBuf};

use tempfile::TempDir;

/// A folder that is removed with its owner.
#[derive(Debug)]
pub struct Project {
    folder: TempDir,
}

/// A kernel, in a package of its own.
pub const KERNELS: &str = "\
import cuda.tile as ct


@ct.kernel(occupancy=2)
def scale(x, y, BLOCK: ct.Constant[int]):
    tile = ct.load(x, index=(ct.bid(0),), shape=(BLOCK,))
    ct.store(y, index=(ct.bid(0),), tile=tile * 2)
";

/// Its launch in another file, behind a character that UTF-8 and UTF-16 count differently.
pub const LAUNCH: &str = "\
import cuda.tile as ct

from .kernels import scale


def run(x, y):
    name = \"😀\"; ct.launch(None, (1,), scale, (x, y, 128))
    return name
";

impl Project {
    /// An empty folder.
    ///
    /// # Panics
    /// It cannot be made.
    pub fn empty() -> Self {
        let project = Self {
            folder: tempfile::tempdir().expect("a temporary folder"),
        };
        // So that no project around the temporary folder is taken for this one's root.
        project.write("pyproject.toml", "[project]\nname = \"sample\"\n");
        project
    }

    /// A project with one kernel and one launch in two files.
    pub fn sample() -> Self {
        let project = Self::empty();
        project.write("pkg/__init__.py", "");
        project.write("pkg/kernels.py", KERNELS);
        project.write("pkg/launch.py", LAUNCH);
        project
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Writes a file, with the folders above it; gives its path.
    ///
    /// # Panics
    /// It cannot be written.
    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.folder().join(name);
        let parent = path.parent().expect("a folder");
        std::fs::create_dir_all(parent).expect("the folder can be made");
        std::fs::write(&path, content).expect("the file can be written");
        path
    }

    /// The URI of a file.
    pub fn uri(&self, name: &str) -> String {
        format!("file://{}", self.folder().join(name).display())
    }
}
