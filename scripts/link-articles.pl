#!/usr/bin/env perl
# Prints a guide of docs/ as an article of a module's catalog: links to guides become links to articles, and links to other
# files become plain text.
#
#     link-articles.pl ARTICLES MODULE GUIDE BASE
use strict;
use warnings;

binmode STDOUT, ':utf8';
my ($articles, $module, $guide, $base) = @ARGV;
my %article;
open my $list, '<', $articles or die "$articles: $!";
while (<$list>) {
  my ($file, $owner, $name) = split;
  $article{$file} = [$owner, $name];
}

# Calls a closure with each line of a guide, and whether the line is code.
sub each_line {
  my ($file, $body) = @_;
  open my $guide, '<:utf8', "docs/$file" or die "docs/$file: $!";
  my $is_code = 0;
  while (my $line = <$guide>) {
    $is_code = !$is_code if $line =~ /^```/;
    $body->($line, $is_code || $line =~ /^(    |```)/);
  }
}

# The heading that GitHub links by an anchor, as DocC names it.
my %headings;
sub heading {
  my ($file, $anchor) = @_;
  $headings{$file} //= do {
    my %found;
    each_line($file, sub {
      my ($line, $is_code) = @_;
      return if $is_code || $line !~ /^#+ (.*)$/;
      my $text = $1;
      (my $anchor = lc $text) =~ s/[^\w -]//g;
      $anchor =~ tr/ /-/;
      $text =~ s/`//g;
      $text =~ s/ /-/g;
      $found{$anchor} = $text;
    });
    \%found;
  };
  return $headings{$file}{$anchor} // die "$guide: $file has no heading #$anchor\n";
}

sub target {
  my ($text, $target) = @_;
  return "[$text]($target)" if $target =~ m{://};
  my ($file, $anchor) = $target =~ /^([^#]*)(?:#(.*))?$/;
  my $place = defined $anchor && (!$file || $article{$file}) ? '#' . heading($file || $guide, $anchor) : '';
  return "[$text](doc:$place)" unless $file;
  my $found = $article{$file} or return $text;
  my ($owner, $name) = @$found;
  return "[$text](doc:$name$place)" if $owner eq $module;
  return "[$text]($base/documentation/" . lc("$owner/$name") . "$place)";
}

each_line($guide, sub {
  my ($line, $is_code) = @_;
  # Of a picture, an article has the text that describes it.
  $line =~ s/!\[([^\[\]]*)\]\(images\/[^()\s]*\)/*$1*/g unless $is_code;
  $line =~ s/\[([^\[\]]*)\]\(([^()\s]*)\)/target($1, $2)/ge unless $is_code;
  print $line;
});
