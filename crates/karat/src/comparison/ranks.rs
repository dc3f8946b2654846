//! Tools in order, with the ranks that each may have.

use super::measure::MetricFormula;
use super::{PairBy, Request, Side, pairing};
use crate::failure::Result;
use karat_core::comparison::{PairTest, RankSet, Rules, ToolScores, rank_sets, test_all_pairs};
use karat_core::metric::table::direction;
use karat_core::wording::count;
use karat_format::comparison::{ComparisonV1, RankTestV1, RankedV1, RanksV1, SCHEMA};
use karat_format::report::{ReportV1, ToolV1};
use karat_report::number::{goodness, headline, listed, rank_metric, title};
use std::collections::BTreeMap;

/// The ranking of all tools of a report by its ranking metric; `None` with a single tool.
pub fn ranking(report: &ReportV1) -> Option<RanksV1> {
    let tools: Vec<&ToolV1> = report.tools.iter().collect();
    if tools.len() < 2 {
        return None;
    }
    let rules = Rules { seed: Some(report.seed), ..Rules::default() };
    let request = Request { rules, ..Request::default() };
    ranks(report, &tools, rank_metric(report), &request).ok()?.ranks
}

pub(crate) fn ranks(report: &ReportV1, tools: &[&ToolV1], id: &str, request: &Request<'_>) -> Result<ComparisonV1> {
    let goodness = |tool: &ToolV1| headline(report, tool).get(id).and_then(goodness).filter(|v| v.is_finite());
    let (mut ranked, mut unranked): (Vec<&ToolV1>, Vec<&ToolV1>) =
        tools.iter().copied().partition(|tool| goodness(tool).is_some());
    ranked.sort_by(|a, b| {
        let by_value = goodness(b).zip(goodness(a)).map_or(std::cmp::Ordering::Equal, |(b, a)| b.total_cmp(&a));
        by_value.then_with(|| a.tool.cmp(&b.tool))
    });
    unranked.sort_by(|a, b| a.tool.cmp(&b.tool));
    let mut warnings = Vec::new();
    let (tests, cluster) = test_pairs(report, &ranked, id, request, &mut warnings)?;
    let (direction, level) = (direction(id), request.rules.level);
    let sets = rank_sets(ranked.len(), &tests, direction, level);
    let pair = |test: &PairTest| RankTestV1 {
        a: ranked[test.a].tool.clone(),
        b: ranked[test.b].tool.clone(),
        difference: test.difference,
        p: test.p,
        p_holm: test.p_holm,
        n: test.n,
        differing: test.differing,
        better: test.decided(direction, level).map(|(better, _)| ranked[better].tool.clone()),
    };
    let pairs: Vec<RankTestV1> = tests.iter().map(pair).collect();
    let row = |tool: &ToolV1, place: Option<(usize, RankSet)>| {
        let estimate = headline(report, tool).get(id);
        RankedV1 {
            rank: place.map(|(rank, _)| rank),
            rank_low: place.map(|(_, set)| set.low),
            rank_high: place.map(|(_, set)| set.high),
            tool: tool.tool.clone(),
            value: estimate.and_then(|e| e.value),
            ci: estimate.and_then(|e| e.ci),
            n: estimate.map_or(0, |e| e.n),
        }
    };
    let placed = ranked.iter().zip((1..).zip(&sets)).map(|(tool, (rank, set))| row(tool, Some((rank, *set))));
    let rows: Vec<RankedV1> = placed.chain(unranked.iter().map(|tool| row(tool, None))).collect();
    let names: Vec<(&str, RankSet)> = ranked.iter().map(|tool| tool.tool.as_str()).zip(sets).collect();
    let statement = statement(&names, title(id), tests.iter().any(|test| test.p.is_some()));
    Ok(ComparisonV1 {
        schema: SCHEMA.to_owned(),
        suite: report.suite.name.clone(),
        profile: report.profile.name.clone(),
        level,
        margin: request.rules.margin,
        cluster,
        comparisons: Vec::new(),
        ranks: Some(RanksV1 { metric: id.to_owned(), direction, level, tools: rows, pairs, statement }),
        warnings,
    })
}

/// Tests every two tools by what each case adds to the metric, and says which field clusters are named by.
fn test_pairs(
    report: &ReportV1,
    tools: &[&ToolV1],
    id: &str,
    request: &Request<'_>,
    warnings: &mut Vec<String>,
) -> Result<(Vec<PairTest>, Option<String>)> {
    let mut sides: Vec<Side> =
        tools.iter().map(|tool| Side::of_report(report, tool, &tool.tool).for_metric(id)).collect();
    // All tools have the same cases, so that those of the first say how cases are clustered.
    for case in sides.iter_mut().skip(1).flat_map(|side| side.cases.values_mut()) {
        (case.goldens, case.fields) = (String::new(), BTreeMap::new());
    }
    let Some(first) = sides.first() else { return Ok((Vec::new(), None)) };
    let own = pairing::pair(first, first, PairBy::SameSuite)?;
    let cluster = request.cluster.cloned().unwrap_or_else(|| report.intervals.cluster_by());
    let clustering = pairing::clustering(&own, &cluster)?;
    if clustering.used && clustering.asked && clustering.alone > 0 {
        warnings.push(format!("{} without {}: each stands alone", count(clustering.alone, "case"), clustering.field));
    }
    let clusters = pairing::cluster_numbers(&own, &(0..own.cases.len()).collect::<Vec<_>>(), &clustering);
    let cases: Vec<&str> = own.cases.iter().map(|(name, ..)| *name).collect();
    let sides: Vec<&Side> = sides.iter().collect();
    let formula = MetricFormula::checked(&sides, id);
    let scores = match &formula {
        Ok(formula) => formula.tool_scores(&sides, &cases),
        Err(refused) => {
            warnings.push(refused.reason.clone());
            ToolScores::Values(vec![vec![None; cases.len()]; sides.len()])
        }
    };
    Ok((test_all_pairs(&scores, clusters.as_deref(), &request.rules), clustering.used_field().map(str::to_owned)))
}

/// A sentence about the best tools. `tools` are those with a rank, best first.
fn statement(tools: &[(&str, RankSet)], metric: &str, tested: bool) -> String {
    match tools {
        [] => return format!("No tool has a value of {metric}."),
        [(only, _)] => return format!("Only {only} has a value of {metric}."),
        _ if !tested => return format!("No two tools could be tested against each other by {metric}."),
        _ => {}
    }
    let leaders: Vec<(&str, RankSet)> = tools.iter().copied().filter(|(_, set)| set.low == 1).collect();
    let names: Vec<&str> = leaders.iter().map(|(name, _)| *name).collect();
    let result = match leaders.as_slice() {
        [] => "every tool is worse than some other".to_owned(),
        all if all.len() == tools.len() && all.len() > 3 => format!("all {} are tied", count(all.len(), "tool")),
        all if all.len() == tools.len() => format!("{} are tied", listed(&names)),
        [(best, set), others @ ..] if others.iter().all(|(_, other)| other.high > set.high) => match set.high {
            1 => format!("{best} is best"),
            2 => format!("{best} is best or second"),
            high => format!("{best} is among the best {high}"),
        },
        _ => format!("{} are tied for the lead", listed(&names)),
    };
    format!("By {metric}, {result}.")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(sets: &[(usize, usize)], expect: &str) {
        let names: Vec<String> = (0..sets.len()).map(|at| format!("t{}", at + 1)).collect();
        let tools: Vec<(&str, RankSet)> = names
            .iter()
            .zip(sets)
            .map(|(name, (low, high))| (name.as_str(), RankSet { low: *low, high: *high }))
            .collect();
        assert_eq!(statement(&tools, "F1", true), expect);
    }

    #[test]
    fn statements_say_what_is_known_of_the_best() {
        check(&[], "No tool has a value of F1.");
        check(&[(1, 1)], "Only t1 has a value of F1.");
        check(&[(1, 1), (2, 2)], "By F1, t1 is best.");
        check(&[(1, 2), (1, 2)], "By F1, t1 and t2 are tied.");
        check(&[(1, 1), (2, 3), (2, 3)], "By F1, t1 is best.");
        check(&[(1, 2), (1, 3), (2, 3)], "By F1, t1 is best or second.");
        check(&[(1, 2), (1, 2), (3, 3)], "By F1, t1 and t2 are tied for the lead.");
        check(&[(1, 3), (1, 3), (1, 3)], "By F1, t1, t2 and t3 are tied.");
        check(&[(1, 3), (1, 3), (1, 3), (4, 4)], "By F1, t1, t2 and t3 are tied for the lead.");
        check(&[(1, 4); 4], "By F1, all 4 tools are tied.");
        check(&[(1, 4), (1, 4), (1, 4), (1, 4), (5, 5)], "By F1, t1, t2, t3 and 1 more are tied for the lead.");
        check(&[(1, 2), (2, 2), (2, 3)], "By F1, t1 is best or second.");
        check(&[(1, 3), (2, 4), (2, 4), (3, 4)], "By F1, t1 is among the best 3.");
        check(&[(1, 3), (1, 4), (1, 5), (2, 5), (3, 5)], "By F1, t1 is among the best 3.");
        check(&[(1, 3), (1, 4), (1, 3), (2, 5), (4, 5)], "By F1, t1, t2 and t3 are tied for the lead.");
        // With other cases for every pair, what stands first may not be what wins.
        check(&[(2, 3), (1, 2), (2, 3)], "By F1, t2 is best or second.");
        check(&[(2, 2), (2, 2), (2, 2)], "By F1, every tool is worse than some other.");
        let two = [("a", RankSet { low: 1, high: 2 }), ("b", RankSet { low: 1, high: 2 })];
        assert_eq!(statement(&two, "F1", false), "No two tools could be tested against each other by F1.");
    }
}
