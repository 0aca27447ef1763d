// Marks the root of the module. Builds use mods/<minor>.mod.
module highwater/tools/vectors

go 1.25
