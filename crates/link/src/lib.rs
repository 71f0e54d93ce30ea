//! A path of a network as a model: elements, chained, one chain per direction. Pure and seeded: time and packets come in
//! as arguments, and the same seed gives the same path.
