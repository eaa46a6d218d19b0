# Packs the archive of make dist for Nix: nix-build -E '(import <nixpkgs> { }).callPackage ./packaging/dlm.nix { archive = ./.build/dist/dlm-0.1.0-linux-x86_64.tar.gz; }'
{ lib, stdenv, autoPatchelfHook, curl, openssl, sqlite, archive }:

stdenv.mkDerivation {
  pname = "dlm";
  version = "0.1.0";
  src = archive;
  nativeBuildInputs = [ autoPatchelfHook ];
  buildInputs = [ sqlite stdenv.cc.cc.lib ];
  # These are loaded when they are needed.
  runtimeDependencies = [ (lib.getLib curl) (lib.getLib openssl) ];
  dontStrip = true;
  installPhase = "sh ./install.sh $out";
  meta = {
    description = "Download manager whose downloads pause, resume and survive crashes";
    license = lib.licenses.mit;
    platforms = lib.platforms.linux;
    mainProgram = "dlm";
  };
}
