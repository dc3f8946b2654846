//! Passages that can be searched.

use super::bm25::Bm25;
use super::cut::Cut;
use super::embed::{Embedded, Embedder, Side, cosine};
use super::fuse::{Hit, fuse, sort};
use super::rerank::{Asked, Reranker};
use super::words::Analysis;
use super::{Knobs, RetrievalError};
use rayon::prelude::*;

/// What is searched.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Passage {
    /// Its heading; empty where it has none.
    pub heading: String,
    /// Its text, without the heading.
    pub body: String,
}

impl Passage {
    /// Heading and text, as they are searched.
    pub fn text(&self) -> String {
        match (self.heading.trim(), self.body.trim()) {
            ("", body) => body.to_owned(),
            (heading, "") => heading.to_owned(),
            (heading, body) => format!("{heading}\n\n{body}"),
        }
    }
}

/// What is searched for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Query {
    /// Whose words they are.
    pub id: String,
    /// The words.
    pub text: String,
}

/// What a model had to do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Effort {
    /// How many requests were made, or texts read by a model inside.
    pub calls: usize,
    /// What was not read of too long texts.
    pub cut: Cut,
}

/// What was found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Searched {
    /// For each query the parts that were found, best first.
    pub ranked: Vec<Vec<Hit>>,
    /// What the embedder had to do for the queries; what it had to do for the passages is the index's.
    pub embedder: Effort,
    /// What the reranker had to do.
    pub reranker: Effort,
}

/// Passages that can be searched, numbered as they were given.
pub struct Index {
    texts: Vec<String>,
    /// How many characters the body of each has.
    lengths: Vec<usize>,
    words: Bm25,
    /// The vectors of each passage's windows; nothing where there was no embedder.
    vectors: Option<Vec<Vec<Vec<f32>>>>,
    effort: Effort,
}

impl Index {
    /// An index of passages by their words, and by vectors where somebody makes them.
    pub fn new(
        passages: &[Passage],
        analysis: &Analysis,
        embedder: Option<&dyn Embedder>,
    ) -> Result<Self, RetrievalError> {
        let texts: Vec<String> = passages.iter().map(Passage::text).collect();
        let lengths = passages.iter().map(|passage| passage.body.trim().chars().count()).collect();
        let words = Bm25::new(&texts, analysis)?;
        let (mut vectors, mut effort) = (None, Effort::default());
        if let Some(embedder) = embedder {
            let embedded = asked(embedder, &texts, Side::Passage, None)?;
            effort = Effort { calls: embedded.calls, cut: embedded.cut };
            vectors = Some(embedded.vectors);
        }
        Ok(Self { texts, lengths, words, vectors, effort })
    }

    /// How many passages there are.
    pub fn len(&self) -> usize {
        self.texts.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.texts.is_empty()
    }

    /// What the embedder had to do for the passages.
    pub fn effort(&self) -> Effort {
        self.effort
    }

    /// Searches for each query. Without a reranker, or where the knobs want none, the fused list is what was found.
    pub fn search(
        &self,
        queries: &[Query],
        knobs: &Knobs,
        embedder: Option<&dyn Embedder>,
        reranker: Option<&dyn Reranker>,
    ) -> Result<Searched, RetrievalError> {
        knobs.check()?;
        let candidate = |part: usize| self.lengths[part] >= knobs.min_candidate_length;
        let texts: Vec<&str> = queries.iter().map(|query| query.text.as_str()).collect();
        let words = match knobs.by_words() {
            true => self.words.search(&texts, knobs.search_limit, &candidate)?,
            false => vec![Vec::new(); queries.len()],
        };
        let mut searched = Searched::default();
        let mut meant = vec![Vec::new(); queries.len()];
        let vectors = match (knobs.by_vectors(), &self.vectors, embedder) {
            (false, ..) => vec![Vec::new(); queries.len()],
            (true, Some(own), Some(embedder)) => {
                let length = own.iter().flatten().next().map(Vec::len);
                let texts: Vec<String> = texts.iter().map(|text| (*text).to_owned()).collect();
                let asked = asked(embedder, &texts, Side::Query, length)?;
                searched.embedder = Effort { calls: asked.calls, cut: asked.cut };
                meant = asked.vectors;
                meant.par_iter().map(|query| nearest(query, own, knobs.search_limit, &candidate)).collect()
            }
            (true, ..) => return Err(RetrievalError::NoVectors { weight: knobs.bm25_weight }),
        };
        for (words, vectors) in words.iter().zip(&vectors) {
            searched.ranked.push(fuse(words, vectors, knobs.bm25_weight));
        }
        if let Some(reranker) = reranker.filter(|_| knobs.rerank) {
            self.rerank(&mut searched, queries, &meant, knobs, reranker)?;
        }
        for hits in &mut searched.ranked {
            hits.truncate(knobs.rerank_top_n);
        }
        Ok(searched)
    }

    /// Puts the first hits of each query into the reranker's order.
    fn rerank(
        &self,
        searched: &mut Searched,
        queries: &[Query],
        meant: &[Vec<Vec<f32>>],
        knobs: &Knobs,
        reranker: &dyn Reranker,
    ) -> Result<(), RetrievalError> {
        let one = |((query, meant), hits): ((&Query, &Vec<Vec<f32>>), &mut Vec<Hit>)| {
            hits.truncate(knobs.search_limit);
            // Nobody is asked about nothing.
            if hits.is_empty() {
                return Ok(Effort::default());
            }
            let texts: Vec<&str> = hits.iter().map(|hit| self.texts[hit.part].as_str()).collect();
            let fused: Vec<f64> = hits.iter().map(|hit| hit.score).collect();
            // A passage without a word is like nothing, which is the least there is.
            let like = |hit: &Hit, own: &[Vec<Vec<f32>>]| likeness(meant, &own[hit.part]).unwrap_or(-1.0);
            let likeness: Option<Vec<f64>> = match &self.vectors {
                Some(own) if !meant.is_empty() => Some(hits.iter().map(|hit| like(hit, own)).collect()),
                _ => None,
            };
            let likeness = likeness.as_deref();
            let asked = Asked { query: &query.text, texts: &texts, fused: &fused, likeness, words: &self.words };
            let reranked = reranker.rerank(&asked)?;
            if reranked.scores.len() != hits.len() || reranked.scores.iter().any(|score| score.is_nan()) {
                let why = format!("{} texts were given, and {} scores came back", hits.len(), reranked.scores.len());
                return Err(RetrievalError::BadAnswer { who: format!("the reranker {}", reranker.id()), why });
            }
            for (hit, score) in hits.iter_mut().zip(&reranked.scores) {
                (hit.score, hit.rerank) = (*score, Some(*score));
            }
            sort(hits);
            Ok(Effort { calls: reranked.calls, cut: reranked.cut })
        };
        let efforts: Vec<Effort> =
            queries.par_iter().zip(meant).zip(searched.ranked.par_iter_mut()).map(one).collect::<Result<_, _>>()?;
        for effort in efforts {
            searched.reranker.calls += effort.calls;
            searched.reranker.cut.add(effort.cut);
        }
        Ok(())
    }
}

/// The vectors of texts, as many as there are texts and all of one length.
fn asked(
    embedder: &dyn Embedder,
    texts: &[String],
    side: Side,
    length: Option<usize>,
) -> Result<Embedded, RetrievalError> {
    let embedded = embedder.embed(texts, side)?;
    let who = || format!("the embedder {}", embedder.id());
    if embedded.vectors.len() != texts.len() {
        let why = format!("{} texts were given, and {} vectors came back", texts.len(), embedded.vectors.len());
        return Err(RetrievalError::BadAnswer { who: who(), why });
    }
    let expected = length.or_else(|| embedded.vectors.iter().flatten().next().map(Vec::len)).unwrap_or_default();
    match embedded.vectors.iter().flatten().find(|vector| vector.len() != expected) {
        Some(other) => Err(RetrievalError::OtherVectors { who: who(), found: other.len(), expected }),
        None => Ok(embedded),
    }
}

/// The passages nearest to a query, best first, with how like they are; equally near ones in the order of passages.
fn nearest(
    query: &[Vec<f32>],
    passages: &[Vec<Vec<f32>>],
    most: usize,
    candidate: &dyn Fn(usize) -> bool,
) -> Vec<(usize, f64)> {
    let among = passages.iter().enumerate().filter(|(part, _)| candidate(*part));
    let mut found: Vec<(usize, f64)> = among.filter_map(|(part, own)| Some((part, likeness(query, own)?))).collect();
    found.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    found.truncate(most);
    found
}

/// How like a query a passage is: its best window for each window of the query, averaged over the query.
fn likeness(query: &[Vec<f32>], passage: &[Vec<f32>]) -> Option<f64> {
    let best = |own: &Vec<f32>| passage.iter().map(|other| cosine(own, other)).reduce(f32::max);
    let all = query.iter().map(best).collect::<Option<Vec<f32>>>().filter(|all| !all.is_empty())?;
    Some(all.iter().map(|one| f64::from(*one)).sum::<f64>() / all.len() as f64)
}
