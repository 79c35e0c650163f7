//! The client for Anthropic Messages.
