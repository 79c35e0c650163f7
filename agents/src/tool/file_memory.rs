//! What an agent has read, so that an edit can refuse a file that changed since.

/// What one agent has read. See the module.
#[derive(Debug, Default)]
pub struct FileMemory {}
