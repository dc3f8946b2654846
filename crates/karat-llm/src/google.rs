//! Google's API for Gemini models that is compatible with OpenAI's chat completions.

use super::http::BEARER;
use super::openai::CHAT;
use super::remote::RemoteApi;

pub(super) static API: RemoteApi = RemoteApi {
    name: "google",
    key: "GEMINI_API_KEY",
    base: "GEMINI_BASE_URL",
    address: "https://generativelanguage.googleapis.com/v1beta/openai",
    key_header: BEARER,
    headers: &[],
    wire: &CHAT,
    other_wire: None,
};
