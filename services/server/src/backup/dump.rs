//! The command that dumps a catalog on Postgres.

/// Parameters of a URL that hold a secret.
const SECRET_PARAMETERS: [&str; 2] = ["password", "sslpassword"];

/// A line for a shell. The password is left to the shell's user: `PGPASSWORD`, `~/.pgpass` or a prompt.
pub(super) fn command(url: &str, directory: &str) -> String {
    format!(
        "pg_dump --format=directory --file={} {}",
        quoted(directory),
        quoted(&without_secrets(url))
    )
}

fn without_secrets(url: &str) -> String {
    let (address, parameters) = url.split_once('?').unwrap_or((url, ""));
    let kept: Vec<&str> = parameters
        .split('&')
        .filter(|parameter| !parameter.is_empty() && !is_secret(parameter))
        .collect();
    let parameters = if kept.is_empty() {
        String::new()
    } else {
        format!("?{}", kept.join("&"))
    };
    format!("{}{parameters}", without_password(address))
}

fn is_secret(parameter: &str) -> bool {
    let name = parameter.split('=').next().unwrap_or_default();
    SECRET_PARAMETERS.contains(&name)
}

/// What stands before the last `@` is user and password.
fn without_password(address: &str) -> String {
    let Some((scheme, rest)) = address.split_once("://") else {
        return address.to_owned();
    };
    let Some((user, place)) = rest.rsplit_once('@') else {
        return address.to_owned();
    };
    let user = user.split(':').next().unwrap_or_default();
    format!("{scheme}://{user}@{place}")
}

fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn c180_the_command_can_be_pasted_and_holds_no_password() {
        assert_eq!(
            command("postgres://ada:s3cret@db:5432/catalog?sslmode=require", "/t/it's"),
            r"pg_dump --format=directory --file='/t/it'\''s' 'postgres://ada@db:5432/catalog?sslmode=require'"
        );
        for url in [
            "postgres://ada:s3cret@db/catalog",
            "postgres://ada:s3/cr@t@db/catalog",
            "postgres://db/catalog?user=ada&password=s3cret&sslmode=require",
            "postgres://db/catalog?sslpassword=s3cret",
        ] {
            let command = command(url, "/t/bk");
            assert!(
                !command.contains("s3") && command.contains("/catalog"),
                "{command}"
            );
        }
        assert!(command("postgres://db/catalog", "/t/bk").ends_with(" 'postgres://db/catalog'"));
    }
}
