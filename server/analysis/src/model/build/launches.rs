//! Calls that launch a kernel.

use super::{At, Build};
use crate::model::names::is_api;
use crate::model::scan::Call;
use crate::model::{Launch, LaunchApi};

impl<'a> Build<'a> {
    pub(super) fn launch(&mut self, call: &'a Call, at: At) {
        let paths = self.names.paths(&call.callee, at);
        let (api, place) = if paths.iter().any(|p| is_api(p, "launch")) {
            (LaunchApi::Launch, 2)
        } else if paths.iter().any(|p| is_api(p, "cutile_call")) {
            (LaunchApi::CutileCall, 1)
        } else {
            return;
        };
        let Some(kernel) = call.argument(Some(place), "kernel") else {
            return;
        };
        let launch = Launch {
            api,
            span: self.place(at.item, call.span),
            callee_span: self.place(at.item, call.callee_span),
            kernel_text: self.source(at.item, kernel.span).to_owned(),
            kernel_span: self.place(at.item, kernel.ident.unwrap_or(kernel.span)),
            candidates: self.candidates(&kernel.value, at),
            function: self.function_name(at),
            stale: self.stale(at.item),
        };
        self.out.launches.push(launch);
    }
}
