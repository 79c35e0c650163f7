//! Which folders the person trusts.
