//! What end-to-end tests are made of: a model server that plays a script and polices the wire, temporary repositories, and
//! the program itself, on the command line and in its window.
//!
//! Nothing here sleeps for a fixed time: a test opens [`Gate`]s, waits for requests, or for something on the page.

pub mod gate;
pub mod ledger;
pub mod mortal;
pub mod program;
pub mod repository;
pub mod scripted;
pub mod speakers;
pub mod window;
pub mod world;

pub use gate::Gate;
pub use repository::Repository;
pub use scripted::{Mismatch, Received, Reply, Scripted, reply};
pub use speakers::{in_child, in_fork, in_root, result_of};
pub use world::{Setup, World};
