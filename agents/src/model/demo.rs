//! The embedded demo model.
