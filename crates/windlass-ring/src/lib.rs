//! Cyclotomic rings Z\[ζ_m\]/q in residue number systems, for any conductor m.
#![forbid(unsafe_code)]
