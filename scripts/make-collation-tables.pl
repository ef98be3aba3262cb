#!/usr/bin/perl
# Writes the tables of the collations from the data of Unicode that Perl has:
#
#     scripts/make-collation-tables.pl > Sources/Base/CDTJSON/Collation/CollationData.swift
#
# The primary weights come from the Default Unicode Collation Element Table (allkeys.txt), case folding, canonical
# decompositions and combining classes from the Unicode Character Database. Increase $revision if the bytes change for
# another reason than a new version of Unicode: indexes are then built again.
#
# The bytes are numbers in base 128, the low digits first, each but the last with its high bit set. A signed number n is
# written as 2n, or -2n - 1 if it is negative. Sections begin with the number of their records; the code points of records
# are differences from the end of the last one.
use strict;
use warnings;
use MIME::Base64 qw(encode_base64);
use Unicode::Collate;
use Unicode::Normalize qw(NFD getCombinClass);
use Unicode::UCD qw(casefold);

my $revision = 1;
my $collator = Unicode::Collate->new(level => 1, variable => 'non-ignorable');
my ($table) = grep { -e } map { "$_/Unicode/Collate/allkeys.txt" } @INC;
die "allkeys.txt of Unicode::Collate is missing\n" unless $table;

sub unsigned {
    my ($number, $bytes) = (shift, '');
    while ($number >= 128) { $bytes .= chr($number % 128 + 128); $number = int($number / 128); }
    return $bytes . chr($number);
}
sub signed { my $number = shift; return unsigned($number < 0 ? -2 * $number - 1 : 2 * $number); }

# Consecutive code points in records; `$joins` decides whether a code point continues a record.
sub runs {
    my ($points, $joins, $write) = @_;
    my (@runs, $end);
    for my $point (@$points) {
        if (@runs && $joins->($runs[-1], $point)) { push @{$runs[-1]}, $point; next; }
        push @runs, [$point];
    }
    my ($bytes, $after) = (unsigned(scalar @runs), 0);
    for my $run (@runs) {
        $bytes .= unsigned($run->[0] - $after) . $write->($run);
        $after = $run->[-1] + 1;
    }
    return $bytes;
}

# MARK: Weights

my (%weights, @contractions, @implicit);
my $version = '';
open my $keys, '<', $table or die "$table: $!\n";
while (<$keys>) {
    $version = $1 if /^\@version (\S+)/;
    push @implicit, [hex $1, hex $2, hex $3, hex $1] if /^\@implicitweights ([0-9A-F]+)\.\.([0-9A-F]+); ([0-9A-F]+)/;
    next unless /^([0-9A-F ]+?)\s*;\s*(\S+)/;
    my @points = map { hex } split ' ', $1;
    my @primaries = grep { $_ } map { hex } $2 =~ /\[[.*]([0-9A-F]{4})/g;
    if (@points > 1) { push @contractions, [\@points, \@primaries]; }
    else { $weights{$points[0]} = \@primaries; }
}
# One range for each script that the table has several of.
my %merged;
for (@implicit) {
    my $range = $merged{$_->[2]} //= [@$_];
    $range->[1] = $_->[1];
}
@implicit = map { $merged{$_} } sort { $a <=> $b } keys %merged;
# Unified ideographs: those of the two first blocks come before all others.
for my $range ([0x3400, 0x3FFFF]) {
    my $start;
    for my $point ($range->[0] .. $range->[1] + 1) {
        my $is = $point <= $range->[1] && chr($point) =~ /\p{Unified_Ideograph}/;
        if ($is && !defined $start) { $start = $point; }
        if (!$is && defined $start) {
            my $isCore = $start >= 0x4E00 && $start <= 0xFAFF;
            push @implicit, [$start, $point - 1, $isCore ? 0xFB40 : 0xFB80, 0];
            undef $start;
        }
    }
}

my (%decompositions, %classes, %folding);
for my $point (0 .. 0x2FFFF) {
    next if $point >= 0xD800 && $point <= 0xDFFF || $point >= 0xAC00 && $point <= 0xD7A3;
    my $character = chr $point;
    my $class = getCombinClass($point);
    # Characters that are newer than the weights are those of any script.
    $classes{$point} = $class if $class && $weights{$point};
    my $fold = casefold($point);
    $folding{$point} = hex $fold->{simple} if $fold && $fold->{simple};
    my $decomposed = NFD($character);
    next if $decomposed eq $character || grep { getCombinClass(ord) && !$weights{ord $_} } split //, $decomposed;
    $decompositions{$point} = [map { ord } split //, $decomposed];
    $weights{$point} = [grep { $_ } unpack 'n*', $collator->getSortKey($character)];
}

# What is most frequent: digits, letters and some punctuation, in the order of their weights.
my @frequent = sort { $a <=> $b } map { $weights{ord $_}[0] } split //, ' _-,.:/@' . join('', 0 .. 9, 'a' .. 'z');
my $frequent = join '', map { unsigned($_) } scalar @frequent, @frequent;

sub single { my $list = $weights{$_[0]}; return @$list == 0 ? 0 : @$list == 1 ? $list->[0] : undef; }
my $last = 0;
my $weights = runs(
    [sort { $a <=> $b } keys %weights],
    sub {
        my ($run, $point) = @_;
        my ($before, $now) = (single($run->[-1]), single($point));
        return 0 unless defined $now && defined $before && $point == $run->[-1] + 1;
        return ($before == 0) == ($now == 0) if $before == 0 || $now == 0;
        return @$run == 1 ? abs($now - $before) < 64 : $now - $before == single($run->[1]) - single($run->[0]);
    },
    sub {
        my $run = shift;
        my $first = single($run->[0]);
        if (!defined $first) {
            my @list = @{$weights{$run->[0]}};
            my $bytes = unsigned(0) . unsigned(scalar @list);
            for (@list) { $bytes .= signed($_ - $last); $last = $_; }
            return $bytes;
        }
        my $step = @$run > 1 ? single($run->[1]) - $first : 0;
        my $bytes = unsigned(scalar @$run) . signed($first - $last) . signed($step);
        $last = single($run->[-1]) if $first;
        return $bytes;
    });

my $contractions = unsigned(scalar @contractions);
my (@points, @primaries);
for (@contractions) {
    my ($now, $list) = @$_;
    $contractions .= unsigned(scalar @$now);
    for (0 .. $#$now) { $contractions .= signed($now->[$_] - ($points[$_] // 0)); $points[$_] = $now->[$_]; }
    $contractions .= unsigned(scalar @$list);
    for (0 .. $#$list) { $contractions .= signed($list->[$_] - ($primaries[$_] // 0)); $primaries[$_] = $list->[$_]; }
}

my $implicit = unsigned(scalar @implicit);
$implicit .= join '', map { unsigned($_) } @$_ for sort { $a->[0] <=> $b->[0] } @implicit;

my $classes = runs(
    [sort { $a <=> $b } keys %classes],
    sub { $_[1] == $_[0][-1] + 1 && $classes{$_[1]} == $classes{$_[0][0]} },
    sub { unsigned(scalar @{$_[0]}) . unsigned($classes{$_[0][0]}) });

my $decompositions = runs(
    [sort { $a <=> $b } keys %decompositions],
    sub { 0 },
    sub {
        my @list = @{$decompositions{$_[0][0]}};
        return unsigned(scalar @list) . join '', map { unsigned($_) } @list;
    });

# A run of code points with the same difference, one or two apart.
my $folding = runs(
    [sort { $a <=> $b } keys %folding],
    sub {
        my ($run, $point) = @_;
        my $stride = $point - $run->[-1];
        return 0 if $stride > 2 || @$run > 1 && $stride != $run->[1] - $run->[0];
        return $folding{$point} - $point == $folding{$run->[0]} - $run->[0];
    },
    sub {
        my $run = shift;
        return unsigned(scalar @$run) . unsigned(@$run > 1 ? $run->[1] - $run->[0] : 1)
            . signed($folding{$run->[0]} - $run->[0]);
    });

# MARK: Output

my ($major, $minor) = split /\./, $version;
my $number = $major * 1000 + $minor * 100 + $revision;
my $unicode = Unicode::UCD::UnicodeVersion();

sub literal {
    my $text = encode_base64($_[0], '');
    return join "\\\n", map { "    $_" } $text =~ /.{1,110}/g;
}

print <<"END";
// Written by scripts/make-collation-tables.pl from Unicode data files, © Unicode, Inc., under the license in
// LICENSE-UNICODE.txt.

/// The tables of the collations, in the form that the script describes.
enum CollationData {
  /// The number of these tables: the version of Unicode's collation, and the revision of the script.
  static let number: Int64 = $number

  /// The version of Unicode's collation, and that of its characters.
  static let versions = (collation: "$version", characters: "$unicode")

  /// Frequent weights, weights, contractions, ranges of implicit weights, combining classes, and decompositions, in Base64.
  static let weights = """
@{[literal($frequent . $weights . $contractions . $implicit . $classes . $decompositions)]}
    """

  /// Simple case folding, in Base64.
  static let folding = """
@{[literal($folding)]}
    """
}
END
