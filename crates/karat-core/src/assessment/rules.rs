//! Parameters of the assessment track.

use super::record::Role;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The rules of the assessment track.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Rules {
    /// How much of a text must be covered.
    pub thresholds: Thresholds,
    /// What a primary golden part weighs.
    pub primary_weight: f64,
    /// What a supporting golden part weighs.
    pub supporting_weight: f64,
    /// The credit of a part that is cited in its own role.
    pub same_role: f64,
    /// The credit of a primary part that is cited as supporting.
    pub demoted: f64,
    /// The credit of a supporting part that is cited as primary.
    pub promoted: f64,
    /// The share of the compliance score in the combined one; the evidence score has the rest.
    pub compliance_share: f64,
    /// How many places of a ranking `recall_at_k` and `ndcg_at_k` look at.
    pub k: u32,
}

/// Shares of a text's words from which on it counts as covered.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Thresholds {
    /// From here on a text is covered as a whole.
    pub whole: f64,
    /// From here on two texts have something in common.
    pub weak: f64,
}

impl Default for Rules {
    fn default() -> Self {
        Self {
            thresholds: Thresholds::default(),
            primary_weight: 2.0,
            supporting_weight: 1.0,
            same_role: 1.0,
            demoted: 0.5,
            promoted: 0.75,
            compliance_share: 0.5,
            k: 10,
        }
    }
}

impl Default for Thresholds {
    fn default() -> Self {
        Self { whole: 0.9, weak: 0.5 }
    }
}

impl Rules {
    /// What a golden part of that role weighs.
    pub fn weight(&self, role: Role) -> f64 {
        match role {
            Role::Primary => self.primary_weight,
            Role::Supporting => self.supporting_weight,
        }
    }

    /// The credit of a golden part that is cited in some role.
    pub fn credit(&self, golden: Role, cited: Role) -> f64 {
        match (golden, cited) {
            (Role::Primary, Role::Supporting) => self.demoted,
            (Role::Supporting, Role::Primary) => self.promoted,
            _ => self.same_role,
        }
    }

    /// All invalid values, as messages.
    pub fn faults(&self) -> Vec<String> {
        let mut faults = Vec::new();
        let shares = [
            ("thresholds.whole", self.thresholds.whole),
            ("thresholds.weak", self.thresholds.weak),
            ("same_role", self.same_role),
            ("demoted", self.demoted),
            ("promoted", self.promoted),
            ("compliance_share", self.compliance_share),
        ];
        for (name, value) in shares.into_iter().filter(|(_, value)| !(0.0..=1.0).contains(value)) {
            faults.push(format!("{name} = {value}: expected a number from 0 to 1"));
        }
        if self.thresholds.weak > self.thresholds.whole {
            let Thresholds { weak, whole } = self.thresholds;
            faults.push(format!("thresholds.weak = {weak}: expected at most thresholds.whole, {whole}"));
        }
        for (name, value) in [("primary_weight", self.primary_weight), ("supporting_weight", self.supporting_weight)] {
            if !(value.is_finite() && value > 0.0) {
                faults.push(format!("{name} = {value}: expected a number above 0"));
            }
        }
        if self.k == 0 {
            faults.push("k = 0: expected at least 1".to_owned());
        }
        faults
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_usual_rules_are_sound() {
        assert_eq!(Rules::default().faults(), [""; 0]);
        let stated: Rules = serde_json::from_str(r#"{"promoted": 0.5, "thresholds": {"weak": 0.4}}"#).unwrap();
        assert_eq!((stated.promoted, stated.thresholds.weak, stated.thresholds.whole), (0.5, 0.4, 0.9));
    }

    #[test]
    fn all_faults_come_at_once() {
        let rules = Rules {
            thresholds: Thresholds { whole: 0.4, weak: 0.5 },
            demoted: f64::NAN,
            primary_weight: 0.0,
            k: 0,
            ..Rules::default()
        };
        assert_eq!(
            rules.faults(),
            [
                "demoted = NaN: expected a number from 0 to 1",
                "thresholds.weak = 0.5: expected at most thresholds.whole, 0.4",
                "primary_weight = 0: expected a number above 0",
                "k = 0: expected at least 1",
            ]
        );
    }
}
