//! How large an effect is and how sure that is.
