//! What the store promises when something under it fails: a full disk, damaged files, catalogs of other
//! releases, lost connections.

mod clusters;
mod damage;
mod dropped;
mod groups;
mod hints;
mod killed;
mod outcomes;
mod pooler;
mod positions;
mod proxy;
mod reboots;
mod terminated;
mod versions;
