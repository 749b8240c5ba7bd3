//! What NVIDIA's tool chain says of a kernel, without a GPU.

pub mod cubin;
pub mod environment;
pub mod remarks;
