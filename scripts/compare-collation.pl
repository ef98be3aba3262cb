#!/usr/bin/env perl
# Compares the collation `unicode` with Perl's Unicode::Collate on random strings: all scripts, combining characters, contractions,
# Hangul and ideographs. The version of the tables must be that of the module, 13.0.
#
#     scripts/compare-collation.pl [SEED [COUNT]]
#
# CDTQUERY is the command line to test, .build/release/cdtquery by default.
use strict;
use warnings;
use File::Temp qw(tempfile);
use JSON::PP;
use Unicode::Collate;
use Unicode::Normalize qw(NFD getCombinClass);

my ($seed, $count) = (shift // 1, shift // 20_000);
my $tool = $ENV{CDTQUERY} // '.build/release/cdtquery';
srand $seed;
my $collator = Unicode::Collate->new(level => 1, variable => 'non-ignorable');
my ($table) = grep { -e } map { "$_/Unicode/Collate/allkeys.txt" } @INC;
die "allkeys.txt of Unicode::Collate is missing\n" unless $table;

my (@single, @contractions);
open my $keys, '<', $table or die "$table: $!\n";
while (<$keys>) {
    next unless /^([0-9A-F ]+?)\s*;/;
    my @points = map { hex } split ' ', $1;
    if (@points > 1) { push @contractions, \@points; } else { push @single, $points[0]; }
}
my @marks = grep { getCombinClass($_) } @single;
my @composed = grep { NFD(chr) ne chr } @single;
my @kinds = (
    sub { $single[rand @single] },
    sub { 0x20 + int rand 95 },
    sub { $marks[rand @marks] },
    sub { $composed[rand @composed] },
    sub { @{$contractions[rand @contractions]} },
    sub { my ($first, @rest) = @{$contractions[rand @contractions]}; ($first, $marks[rand @marks], @rest) },
    sub { 0xAC00 + int rand 11172 },
    sub { 0x4E00 + int rand 0x5000 });

my ($file, $path) = tempfile(SUFFIX => '.jsonl', UNLINK => 1);
my $json = JSON::PP->new->ascii;
my @expected;
for my $number (1 .. $count) {
    my $string = join '', map { chr } map { $kinds[rand @kinds]->() } 0 .. rand 6;
    my $id = sprintf '%08d', $number;
    print $file $json->encode({_id => $id, s => $string}), "\n";
    push @expected, [$collator->getSortKey($string), $id, $string];
}
close $file;
@expected = sort { $a->[0] cmp $b->[0] || $a->[1] cmp $b->[1] } @expected;

open my $found, '-|', $tool, 'find', $path, '{}', qw(--sort s --collation unicode --ids) or die "$tool: $!\n";
my $different = 0;
for my $wanted (@expected) {
    my $id = <$found> // die "$tool returned too few results\n";
    chomp $id;
    next if $id eq $wanted->[1];
    $different++;
    printf "%s in place of %s: %s\n", $id, $wanted->[1], join ' ', map { sprintf '%04X', ord } split //, $wanted->[2]
        if $different <= 10;
}
print "$count strings, $different in another place\n";
exit($different > 0);
