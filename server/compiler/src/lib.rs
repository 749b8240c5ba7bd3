//! What NVIDIA's tool chain says of a kernel, without a GPU.

pub mod backend;
pub mod bytecode;
pub mod cubin;
pub mod environment;
pub mod remarks;
pub mod store;
pub mod symbol;
pub mod tileiras;
pub mod worker;
