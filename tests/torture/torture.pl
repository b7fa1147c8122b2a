# What tests/torture.t cannot do in a shell:
#   left MARK             the processes alive that have MARK in their environment, once none is, or after 10 s
#   nofilter CMD...       CMD, as on a system without seccomp filters; status 99 if this one has none anyway
#   kill SIG SECONDS CMD...  CMD, sent SIG after SECONDS; its wait status to descriptor 3
use strict;
use warnings;
use POSIX ();
use Time::HiRes qw(sleep time);

sub left {
	my ($mark) = @_;
	my @pid;

	for my $dir (glob "/proc/[0-9]*") {
		my ($pid) = $dir =~ /(\d+)/;
		next if $pid == $$;
		open my $f, "<", "$dir/environ" or next;
		local $/;
		my $text = <$f>;
		push @pid, $pid if defined $text && index($text, $mark) >= 0;
	}
	return @pid;
}

sub name {
	my ($pid) = @_;

	open my $f, "<", "/proc/$pid/cmdline" or return "$pid";
	local $/;
	my $text = <$f> // "";
	$text =~ tr/\0/ /;
	return "$pid $text";
}

# seccomp() and prctl(PR_SET_SECCOMP) fail with EINVAL from here on.
sub forbid_filters {
	my ($load, $equal, $return) = (0x20, 0x15, 0x06);
	my ($allow, $refuse) = (0x7fff0000, 0x00050000 | 22);
	my @step = (
		[$load, 0, 0, 0],          # the call
		[$equal, 3, 0, 317],       # seccomp
		[$equal, 0, 3, 157],       # prctl
		[$load, 0, 0, 16],         # its first argument
		[$equal, 0, 1, 22],        # PR_SET_SECCOMP
		[$return, 0, 0, $refuse],
		[$return, 0, 0, $allow],
	);
	my $code = join "", map { pack "S C C L", @$_ } @step;
	my $program = pack "S x6 P", scalar @step, $code;

	return syscall(157, 38, 1, 0, 0, 0) == 0 && syscall(157, 22, 2, $program) == 0;
}

my $what = shift;
if ($what eq "left") {
	my $end = time + 10;
	my @pid;

	while ((@pid = left($ARGV[0])) && time < $end) {
		sleep 0.01;
	}
	print STDERR "# left: ", name($_), "\n" for @pid;
	exit(@pid ? 1 : 0);
}
if ($what eq "nofilter") {
	chomp(my $machine = (POSIX::uname())[4]);
	exit 99 if $machine ne "x86_64" || !forbid_filters();
	exec @ARGV or exit 98;
}
if ($what eq "kill") {
	my ($sig, $after) = splice @ARGV, 0, 2;
	my $pid = fork // die;

	if (!$pid) {
		# A shell without job control starts what runs behind it deaf to SIGINT.
		$SIG{INT} = "DEFAULT";
		exec @ARGV or POSIX::_exit(98);
	}
	sleep $after;
	kill $sig, $pid;
	waitpid $pid, 0;
	open my $f, ">&=3" or die;
	print $f $? & 127 ? 128 + ($? & 127) : $? >> 8, "\n";
	exit 0;
}
exit 97;
