//! What end-to-end tests are made of: a model server that plays a script and polices the wire, and temporary repositories.
//!
//! Nothing here sleeps: a test opens [`Gate`]s and waits for requests.

pub mod gate;
pub mod repository;
pub mod scripted;
pub mod world;

pub use gate::Gate;
pub use repository::Repository;
pub use scripted::{Received, Reply, Scripted, reply};
pub use world::{Setup, World};
