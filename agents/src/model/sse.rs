//! Splits a byte stream into server-sent events.
