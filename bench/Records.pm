# Records as the benches read them: lines of text, of which a field or two are wanted.
package Records;
use strict;
use warnings;
use Exporter 'import';

our @EXPORT = qw(field lines put_group);

sub field { # line, name: the first of that name, without quotes
	my ($line, $name) = @_;
	return $line =~ /"\Q$name\E":"?([^",}]*)/ ? $1 : undef;
}

sub lines { # file, type: its records of that type
	my ($file, $type) = @_;
	open my $f, '<', $file or die "$file: $!\n";
	return grep { /^\{"tl":1,"type":"$type"/ } <$f>;
}

sub put_group { # the workload's record, its candidates'
	my ($workload, @candidates) = @_;
	my $id = field($workload, 'workload_id');
	print $workload, @candidates;
	print qq({"tl":1,"type":"end","workload_id":"$id","drawn":), scalar @candidates, qq(,"why":"n reached"}\n);
}

1;
