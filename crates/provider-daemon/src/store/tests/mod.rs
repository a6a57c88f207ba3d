mod build;
mod crash;
mod disk;
mod journal;
mod leases;
mod opening;
