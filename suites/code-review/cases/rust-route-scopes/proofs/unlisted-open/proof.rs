use guard::{Caller, Guard, Policy};

fn main() {
    let guard = Guard::new(Policy::parse(&std::fs::read_to_string("routes.conf").unwrap()).unwrap());
    let nobody = Caller::default();
    assert!(guard.allows(&nobody, "GET", "/health"));
    if guard.allows(&nobody, "GET", "/orders") {
        std::process::exit(5);
    }
    if guard.allows(&nobody, "DELETE", "/customers") {
        eprintln!("anybody may call DELETE /customers");
        std::process::exit(1);
    }
}
