//! The doctor and the compiler's installation, from an editor: what is asked, what is shown, and that
//! nothing happens without a yes.

mod doctor;
mod install;
mod world;
