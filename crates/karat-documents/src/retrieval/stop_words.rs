//! Stop words by language.
//!
//! The lists are short on purpose: BM25 already gives common words little weight.

pub(super) const ENGLISH: &[&str] = &[
    "a", "about", "all", "also", "an", "and", "any", "are", "as", "at", "be", "been", "being", "but", "by", "can",
    "could", "did", "do", "does", "each", "for", "from", "had", "has", "have", "he", "her", "his", "how", "i", "if",
    "in", "into", "is", "it", "its", "may", "me", "might", "must", "my", "no", "nor", "not", "of", "on", "or", "our",
    "s", "shall", "she", "should", "so", "some", "such", "t", "than", "that", "the", "their", "them", "then", "there",
    "these", "they", "this", "those", "to", "was", "we", "were", "what", "when", "where", "which", "who", "whom",
    "why", "will", "with", "would", "you", "your",
];

pub(super) const SWEDISH: &[&str] = &[
    "all", "alla", "allt", "att", "av", "bara", "blev", "bli", "blir", "blivit", "de", "dem", "den", "denna", "deras",
    "dess", "dessa", "det", "detta", "dig", "din", "dock", "du", "där", "då", "efter", "ej", "eller", "en", "er",
    "ett", "från", "får", "för", "genom", "ha", "hade", "han", "har", "hon", "hur", "här", "i", "icke", "in", "inom",
    "inte", "jag", "ju", "kan", "kunde", "man", "med", "mellan", "men", "mig", "min", "mot", "måste", "ni", "nu",
    "när", "någon", "något", "några", "och", "om", "oss", "på", "samt", "sedan", "sig", "sin", "sina", "sitt", "ska",
    "skall", "skulle", "som", "så", "sådan", "sådana", "sådant", "till", "under", "upp", "ur", "ut", "utan", "vad",
    "var", "vara", "varit", "varje", "vem", "vi", "vid", "vilka", "vilken", "vilket", "vår", "är", "även", "över",
];

pub(super) const DANISH: &[&str] = &[
    "af", "alle", "at", "blev", "blive", "bliver", "da", "de", "dem", "den", "denne", "der", "deres", "det", "dette",
    "disse", "efter", "eller", "en", "er", "et", "for", "fra", "før", "ham", "han", "har", "hvis", "hvad", "i", "ikke",
    "jeg", "kan", "kun", "man", "med", "mellem", "men", "mod", "må", "nogen", "noget", "nogle", "når", "og", "også",
    "om", "op", "os", "over", "på", "samt", "sig", "skal", "skulle", "som", "sådan", "til", "uden", "under", "ved",
    "vil", "være", "været",
];

pub(super) const NORWEGIAN: &[&str] = &[
    "alle", "at", "av", "ble", "bli", "blir", "da", "de", "dem", "den", "denne", "der", "deres", "det", "dette",
    "disse", "eller", "en", "enn", "er", "et", "etter", "for", "fra", "før", "ham", "han", "har", "hva", "hvis", "i",
    "ikke", "jeg", "kan", "kun", "man", "med", "mellom", "men", "mot", "må", "noe", "noen", "når", "og", "også", "om",
    "opp", "oss", "over", "på", "samt", "seg", "skal", "skulle", "som", "slik", "til", "uten", "under", "ved", "vil",
    "være", "vært", "å",
];

pub(super) const GERMAN: &[&str] = &[
    "aber", "alle", "als", "am", "an", "auch", "auf", "aus", "bei", "bis", "das", "dass", "dazu", "dem", "den", "der",
    "des", "die", "dies", "diese", "dieser", "durch", "ein", "eine", "einem", "einen", "einer", "eines", "er", "es",
    "für", "hat", "im", "in", "ist", "jede", "kann", "kein", "keine", "mit", "nach", "nicht", "nur", "oder", "sich",
    "sie", "sind", "so", "soll", "über", "um", "und", "unter", "vom", "von", "vor", "war", "wenn", "werden", "wie",
    "wird", "zu", "zum", "zur",
];

pub(super) const DUTCH: &[&str] = &[
    "aan", "al", "als", "bij", "dan", "dat", "de", "der", "deze", "die", "dit", "door", "een", "en", "er", "geen",
    "had", "heeft", "het", "hij", "hun", "in", "indien", "is", "kan", "mag", "maar", "met", "moet", "na", "naar",
    "niet", "nog", "of", "om", "onder", "ook", "op", "over", "te", "tenzij", "tot", "uit", "van", "voor", "was", "wat",
    "wordt", "worden", "zal", "ze", "zich", "zij", "zijn",
];

pub(super) const FRENCH: &[&str] = &[
    "à", "au", "aux", "avec", "ce", "ces", "cette", "d", "dans", "de", "des", "doit", "du", "elle", "en", "est", "et",
    "être", "il", "ils", "l", "la", "le", "les", "leur", "leurs", "mais", "n", "ne", "ni", "nous", "on", "ont", "ou",
    "par", "pas", "peut", "plus", "pour", "qu", "que", "qui", "s", "sa", "sans", "se", "ses", "si", "son", "sont",
    "sous", "sur", "tout", "toute", "un", "une", "vous",
];

pub(super) const SPANISH: &[&str] = &[
    "a", "al", "como", "con", "cuando", "de", "del", "desde", "el", "ella", "en", "entre", "es", "esta", "este",
    "esto", "ha", "han", "hasta", "la", "las", "le", "les", "lo", "los", "más", "ni", "no", "o", "para", "pero", "por",
    "puede", "que", "se", "ser", "si", "sin", "sobre", "son", "su", "sus", "también", "un", "una", "y", "ya",
];

pub(super) const PORTUGUESE: &[&str] = &[
    "a", "ao", "aos", "as", "com", "como", "da", "das", "de", "deve", "do", "dos", "e", "ela", "ele", "em", "entre",
    "esta", "este", "foi", "isto", "mais", "mas", "na", "nas", "não", "nem", "no", "nos", "o", "os", "ou", "para",
    "pela", "pelo", "pode", "por", "quando", "que", "se", "sem", "ser", "seu", "sua", "são", "também", "um", "uma",
    "à", "é",
];

pub(super) const ITALIAN: &[&str] = &[
    "a", "ai", "al", "alla", "alle", "anche", "che", "chi", "come", "con", "da", "dal", "dalla", "dei", "del", "della",
    "delle", "deve", "di", "e", "ed", "essere", "fra", "gli", "ha", "hanno", "i", "il", "in", "la", "le", "lo", "ma",
    "nel", "nella", "non", "o", "per", "più", "può", "quando", "questa", "questo", "se", "senza", "si", "sono", "sua",
    "sul", "sulla", "suo", "tra", "un", "una", "è",
];

pub(super) const FINNISH: &[&str] = &[
    "ei", "eivät", "eli", "en", "että", "he", "hän", "itse", "ja", "jo", "joka", "jonka", "jos", "jotka", "kanssa",
    "kuin", "kun", "kuten", "me", "mikä", "mitä", "mukaan", "mutta", "myös", "ne", "niin", "niitä", "ole", "oli",
    "olla", "on", "ovat", "saa", "se", "sekä", "sen", "siihen", "siitä", "sillä", "sitä", "tai", "te", "tämä", "tämän",
    "tätä", "vaan", "vain", "voi",
];
