use super::super::RetrievalError;
use super::{Asked, Reranked, Reranker};
use crate::format::retrieval::RerankProviderV1;
use crate::judge::provider::Surroundings;
struct Inside;
pub(super) fn open(_: &RerankProviderV1, _: &Surroundings<'_>) -> Result<Box<dyn Reranker>, RetrievalError> {
    Ok(Box::new(Inside))
}
impl Reranker for Inside {
    fn id(&self) -> String {
        "x".into()
    }
    fn rerank(&self, asked: &Asked<'_>) -> Result<Reranked, RetrievalError> {
        Ok(Reranked { scores: asked.fused.to_vec(), ..Reranked::default() })
    }
}
