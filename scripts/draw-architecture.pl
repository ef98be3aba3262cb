#!/usr/bin/env perl
# Draws the folders of Sources, their modules, and an arrow from each module to those that it uses. An arrow is left out if a longer
# way leads to the same module. Reads the manifest as JSON:
#
#     swift package dump-package | scripts/draw-architecture.pl > docs/images/architecture.svg
use strict;
use warnings;
use JSON::PP;
use List::Util qw(max sum);

my $manifest = decode_json(join '', <STDIN>);
my (@folders, %folder, %modules, %uses, %place);
for my $target (@{ $manifest->{targets} }) {
  next unless ($target->{path} // '') =~ m{^Sources/(\w+)/};
  my $name = $target->{name};
  # What only embeds C, or a library of the system, belongs to its user.
  next if $name =~ /^CDTC[A-Z]/;
  push @folders, $1 unless $modules{$1};
  push @{ $modules{$1} }, $name;
  $folder{$name} = $1;
  $uses{$name} = [grep { $folder{$_} } map { ((values %$_)[0])->[0] } @{ $target->{dependencies} }];
}

# The modules that a module uses directly or through another one.
sub reached {
  my %found;
  my @left = @_;
  while (defined(my $name = pop @left)) {
    push @left, @{ $uses{$name} } unless $found{$name}++;
  }
  return \%found;
}

sub arrows {
  my ($name) = @_;
  return grep {
    my $used = $_;
    !grep { $_ ne $used && reached($_)->{$used} } @{ $uses{$name} };
  } @{ $uses{$name} };
}

# A module is in the row above those of its folder that it uses.
my %row;
for my $name (map { @{ $modules{$_} } } @folders) {
  $row{$name} = max(0, map { $row{$_} + 1 } grep { $folder{$_} eq $folder{$name} } @{ $uses{$name} });
}

my ($width, $box_width, $box_height, $row_height, $margin, $label) = (1000, 132, 34, 66, 16, 110);
my %color = (
  Base => '#8a8f98', Store => '#3b82c4', Query => '#2a9d8f', Care => '#b98b2f', Sync => '#8e5bb5', Migration => '#a0655a',
  Command => '#4a5568');
my $rows = sum(map { 1 + max(map { $row{$_} } @{ $modules{$_} }) } @folders);
my $height = $rows * $row_height + @folders * $margin;
my $y = $height;
my $svg = '';
my $drawn = 0;
for my $folder (@folders) {
  my $count = 1 + max(map { $row{$_} } @{ $modules{$folder} });
  my $band = $count * $row_height;
  $y -= $band + $margin;
  my $color = $color{$folder} // '#666666';
  $svg .= qq(<rect x="1" y="$y" width="@{[$width - 2]}" height="$band" rx="10" fill="$color" fill-opacity="0.12"/>\n);
  $svg .= sprintf qq(<text x="16" y="%d" class="folder" fill="%s">%s</text>\n), $y + 24, $color, $folder;
  for my $row (0 .. $count - 1) {
    my @row = grep { $row{$_} == $row } @{ $modules{$folder} };
    my $step = ($width - $label) / @row;
    # Rows are shifted, so that few arrows cross a box.
    my $shift = (($drawn++ % 3) - 1) * 200 / @row;
    for my $position (0 .. $#row) {
      $place{ $row[$position] } =
        [int($label + $shift + $step * ($position + 0.5)), $y + $band - $row * $row_height - $row_height / 2];
    }
  }
}
my $lines = '';
for my $name (sort keys %uses) {
  my ($x1, $y1) = @{ $place{$name} };
  for my $used (arrows($name)) {
    my ($x2, $y2) = @{ $place{$used} };
    my ($from, $to) = ($y1 + $box_height / 2, $y2 - $box_height / 2 - 5);
    my $bend = ($to - $from) / 2;
    $lines .= sprintf qq(<path d="M%d %d C%d %d %d %d %d %d" stroke="%s" marker-end="url(#arrow)"/>\n), $x1, $from, $x1, $from + $bend, $x2,
      $to - $bend, $x2, $to, $color{ $folder{$name} } // '#666666';
  }
}
my $boxes = '';
for my $name (map { @{ $modules{$_} } } @folders) {
  my ($x, $y) = @{ $place{$name} };
  $boxes .= sprintf qq(<rect x="%d" y="%d" width="%d" height="%d" rx="6" fill="#ffffff" stroke="%s"/>\n),
    $x - $box_width / 2, $y - $box_height / 2, $box_width, $box_height, $color{ $folder{$name} } // '#666666';
  $boxes .= sprintf qq(<text x="%d" y="%d" text-anchor="middle" fill="#1f2933">%s</text>\n), $x, $y + 5, $name;
}
print <<"END";
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 $width $height" font-family="sans-serif" font-size="14">
<style>.folder { font-weight: bold }</style>
<defs><marker id="arrow" markerWidth="8" markerHeight="8" refX="3" refY="4" orient="auto"><path d="M0 1 L6 4 L0 7 z" fill="#4a5568" stroke="none"/></marker></defs>
<rect width="$width" height="$height" fill="#ffffff"/>
$svg<g fill="none" stroke-width="1.5" stroke-opacity="0.8">
$lines</g>
$boxes</svg>
END
