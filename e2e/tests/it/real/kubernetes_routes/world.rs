//! What the tenant has asked for, and where that makes names lead.

use std::collections::BTreeMap;

use crate::real::kubernetes_routes::stage::{Names, Routes};

/// Numbers that look random, and are the same again for the same seed.
pub(crate) struct Dice(pub(crate) u64);

impl Dice {
    pub(crate) fn roll(&mut self, sides: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % sides
    }

    pub(crate) fn pick<'a, T>(&mut self, of: &'a [T]) -> &'a T {
        &of[usize::try_from(self.roll(of.len() as u64)).unwrap()]
    }
}

/// Leases with the names that they list, and who has those that two of them list.
pub(crate) struct World {
    pub(crate) leases: BTreeMap<u64, Names>,
    /// Names that move: which leases list them, the one that has it first.
    pub(crate) movable: BTreeMap<String, [u64; 2]>,
    /// Names that the provider makes up.
    generated: Routes,
}

impl World {
    pub(crate) fn new(leases: u64, movable: &[(&str, [u64; 2])]) -> Self {
        let own = |dseq| (dseq, Names::from([(format!("own-{dseq}.example.com"), "web")]));
        let mut leases: BTreeMap<u64, Names> = (1..=leases).map(own).collect();
        for (name, [first, second]) in movable {
            leases.get_mut(first).unwrap().insert((*name).to_owned(), "web");
            leases.get_mut(second).unwrap().insert((*name).to_owned(), "api");
        }
        let movable = movable.iter().map(|(name, of)| ((*name).to_owned(), *of)).collect();
        Self { leases, movable, generated: Routes::new() }
    }

    /// Takes note of the names that the provider made up: one for each service.
    pub(crate) fn learn(&mut self, claims: Routes) {
        self.generated = claims;
        self.generated.retain(|name, _| name.ends_with(".sim.localhost"));
        assert_eq!(self.generated.len(), 2 * self.leases.len(), "{:?}", self.generated);
    }

    pub(crate) fn wanted(&self) -> Routes {
        let mut routes = self.generated.clone();
        routes.retain(|_, (dseq, ..)| self.leases.contains_key(dseq));
        for (dseq, names) in &self.leases {
            let has = |name: &str| self.movable.get(name).is_none_or(|[has, _]| has == dseq);
            let own = names.iter().filter(|(name, _)| has(name));
            routes.extend(
                own.map(|(name, service)| (name.clone(), (*dseq, (*service).to_owned(), 80))),
            );
        }
        routes
    }

    /// Another manifest for a lease: a name comes, goes, or leads to the other service.
    pub(crate) fn change(&mut self, dseq: u64, dice: &mut Dice) -> &Names {
        let name = format!("name-{}-{dseq}.example.com", dice.roll(4));
        let names = self.leases.get_mut(&dseq).unwrap();
        let before = names.remove(&name);
        let others = [None, Some("web"), Some("api")].into_iter().filter(|other| *other != before);
        if let Some(service) = dice.pick(&others.collect::<Vec<_>>()) {
            names.insert(name, service);
        }
        names
    }

    /// A name moves to the other lease that lists it, which is returned.
    pub(crate) fn move_on(&mut self, name: &str) -> u64 {
        let of = self.movable.get_mut(name).unwrap();
        of.reverse();
        of[0]
    }

    /// A lease is over. What it had is nobody's; what others may have had from it stays there.
    pub(crate) fn end(&mut self, dseq: u64) {
        self.leases.remove(&dseq);
        self.movable.retain(|_, of| !of.contains(&dseq));
    }
}
