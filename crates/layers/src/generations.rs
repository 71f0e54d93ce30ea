//! A map with a bound that forgets what was not used lately: two generations, of which the older goes when the younger
//! is full.

use std::borrow::Borrow;
use std::collections::HashMap;
use std::hash::Hash;

/// A bounded map.
pub struct Generations<K, V> {
    young: HashMap<K, V>,
    old: HashMap<K, V>,
    half: usize,
}

impl<K: Hash + Eq, V> Generations<K, V> {
    /// A map of at most `most` entries.
    pub fn new(most: usize) -> Self {
        Self { young: HashMap::new(), old: HashMap::new(), half: (most / 2).max(1) }
    }

    /// The value of a key, which counts as a use.
    pub fn get_mut<Q>(&mut self, key: &Q) -> Option<&mut V>
    where
        K: Borrow<Q>,
        Q: Hash + Eq + ?Sized,
    {
        if let Some((key, value)) = self.old.remove_entry(key) {
            self.insert(key, value);
        }
        self.young.get_mut(key)
    }

    /// Sets the value of a key; says whether others were forgotten for it.
    pub fn insert(&mut self, key: K, value: V) -> bool {
        self.old.remove(&key);
        let full = self.young.len() >= self.half && !self.young.contains_key(&key);
        if full {
            self.old = std::mem::take(&mut self.young);
        }
        self.young.insert(key, value);
        full
    }

    /// Forgets a key.
    pub fn remove<Q>(&mut self, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
        Q: Hash + Eq + ?Sized,
    {
        self.young.remove(key).or_else(|| self.old.remove(key))
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = (&K, &V)> {
        self.young.iter().chain(&self.old)
    }

    /// Changes the values of all of them.
    pub fn for_each_mut(&mut self, change: impl FnMut(&mut V)) {
        self.young.values_mut().chain(self.old.values_mut()).for_each(change);
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.young.clear();
        self.old.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_used_stays_and_the_bound_holds() {
        let mut map = Generations::new(10);
        map.insert(0, "used");
        for number in 1..1_000 {
            map.insert(number, "once");
            assert!(map.young.len() + map.old.len() <= 10);
            assert_eq!(map.get_mut(&0), Some(&mut "used"));
        }
        assert_eq!(map.get_mut(&1), None);
        assert_eq!(map.remove(&0), Some("used"));
        assert_eq!(map.get_mut(&0), None);
    }
}
