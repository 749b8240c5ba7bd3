//! tileiras, its libnvvm and its ptxas, against one another: where "Return code 5" comes from.

use std::path::{Path, PathBuf};

use super::{Check, Status, shown};
use crate::environment::{
    Compiler, Environment, Origin, Release, Variables, libnvvm, of_one_release, ptxas,
    release_of_file,
};

/// What cuda-tile 1.7 asks for in its extra `tileiras`: below this release.
const FIRST_TOO_NEW: (u32, u32) = (13, 5);

/// What goes wrong if one of the three does not fit.
const CODE_5: &str = "cuTile then says no more than \"Return code 5\" and \"Unknown location\"";

pub(super) fn examine(user: &Environment, variables: Variables<'_>) -> Vec<Check> {
    let mut checks: Vec<Check> = packages(user).into_iter().collect();
    let Some(compiler) = &user.compiler else {
        let check = Check::ok(
            "tileiras",
            "neither a package, nor on PATH, nor in a CUDA toolkit",
        );
        checks.push(check.with_cure(Status::Problem, install(user)));
        return checks;
    };
    let own = compiler.release();
    checks.push(tileiras(compiler, own));
    let (root, variable) = compiler.root_in(variables);
    let environment = Used {
        compiler,
        own,
        root: &root,
        variable,
    };
    checks.push(environment.part("libnvvm", libnvvm(&root)));
    checks.push(environment.part("ptxas", ptxas(&root, variables)));
    checks
}

fn install(user: &Environment) -> String {
    format!(
        "{} -m pip install --upgrade 'cuda-tile[tileiras]', which brings all three in one release",
        user.python.display()
    )
}

/// The pip packages: cuTile passes them over if they are not of one release.
fn packages(user: &Environment) -> Option<Check> {
    if user.tools.is_empty() {
        return None;
    }
    let named = user
        .tools
        .iter()
        .map(|p| format!("{} {}", p.name, p.version));
    let check = Check::ok("compiler packages", named.collect::<Vec<_>>().join(", "));
    if user.tools.len() < 3 {
        let cure = format!(
            "some are missing, so cuTile looks on PATH instead: {}",
            install(user)
        );
        return Some(check.with_cure(Status::Warning, cure));
    }
    if !of_one_release(&user.tools) {
        let cure = format!(
            "they are of different CUDA releases, so cuTile looks on PATH instead: {}",
            install(user)
        );
        return Some(check.with_cure(Status::Problem, cure));
    }
    Some(check)
}

fn tileiras(compiler: &Compiler, release: Option<Release>) -> Check {
    let found = format!(
        "{} {} from {}",
        release.map_or_else(|| "of unknown release".to_owned(), |r| r.to_string()),
        compiler.tileiras.display(),
        compiler.origin.name()
    );
    let check = Check::ok("tileiras", found);
    match release {
        None => check.with_cure(
            Status::Warning,
            "the file does not say its release; it may be a script or damaged",
        ),
        Some(release) if (release.major, release.minor) >= FIRST_TOO_NEW => check.with_cure(
            Status::Warning,
            "cuda-tile 1.7 asks for a release below 13.5; what a newer one does is not known here",
        ),
        Some(_) => check,
    }
}

/// What tileiras uses when cuTile starts it in the user's environment.
struct Used<'a> {
    compiler: &'a Compiler,
    own: Option<Release>,
    root: &'a Path,
    variable: Option<&'static str>,
}

impl Used<'_> {
    fn part(&self, name: &'static str, path: Option<PathBuf>) -> Check {
        let Some(path) = path else {
            let found = format!("not found below {}{}", self.root.display(), self.because());
            let cure = format!("{}; {CODE_5}", self.cure());
            return Check::ok(name, found).with_cure(Status::Problem, cure);
        };
        let release = release_of_file(&path).ok().flatten();
        let text = release.map_or_else(|| "of unknown release".to_owned(), |r| r.to_string());
        let found = format!("{text} {}{}", shown(Some(&path)), self.because());
        let check = Check::ok(name, found);
        match (release, self.own) {
            (Some(release), Some(own)) if !release.fits(own) => {
                let cure = format!(
                    "tileiras is {own}, this is {release}: {}; {CODE_5}",
                    self.cure()
                );
                check.with_cure(Status::Problem, cure)
            }
            (None, Some(_)) => {
                let cure = format!(
                    "it does not say its release; if compiling fails, {}",
                    self.cure()
                );
                check.with_cure(Status::Warning, cure)
            }
            _ => check,
        }
    }

    fn because(&self) -> String {
        match self.variable {
            Some(variable) => format!(", because {variable} is set"),
            None => String::new(),
        }
    }

    fn cure(&self) -> String {
        let own = self.compiler.root.display();
        match (self.variable, self.compiler.origin) {
            (Some(variable), Origin::Packages | Origin::System) => {
                format!("unset {variable}: tileiras has its own in {own}")
            }
            (Some(variable), _) if self.compiler.is_complete() => {
                format!("unset {variable}, or set it to {own}, where this tileiras belongs")
            }
            (Some(variable), _) => format!(
                "let {variable} name the toolkit that this tileiras is from, or install \
                 cuda-tile[tileiras]"
            ),
            (None, _) => "install the whole toolkit that this tileiras is from, or \
                          cuda-tile[tileiras]"
                .to_owned(),
        }
    }
}
